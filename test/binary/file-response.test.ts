import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PodPartner, ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import type { StubResponse } from "../support/stub-service.ts";

const page = "<!doctype html><title>Sign in to the hotel's network</title>";
const fileTypes = ["image/png", "application/octet-stream", "image/webp", "image/svg+xml", "application/pdf", "x", ""];
const file = Buffer.alloc(2_000, 7);

describe("a successful response that is not a file", () => {
  const context = useService();

  it.each<[string, StubResponse, string]>([
    ["an HTML page", { headers: { "content-type": "text/html; charset=utf-8" }, body: page }, "got text/html"],
    ["JSON", { body: { code: "not_found", message: "No." } }, "got application/json"],
    [
      "an error object",
      { headers: { "content-type": "application/problem+json" }, body: "{}" },
      "got application/problem+json",
    ],
    ["words", { headers: { "content-type": "text/plain" }, body: "upstream unavailable" }, "got text/plain"],
    ["XML", { headers: { "content-type": "application/xml" }, body: "<Error/>" }, "got application/xml"],
    ["XHTML", { headers: { "content-type": "Application/XHTML+XML" }, body: page }, "got application/xhtml+xml"],
    [
      "a part of the file",
      { status: 206, headers: { "content-range": "bytes 0-1999/4000" }, body: file },
      "got a part of it",
    ],
    ["no content", { status: 204 }, "the file is empty"],
    ["nothing", { headers: { "content-length": "0", "content-type": "image/png" } }, "the file is empty"],
  ])("is an error that says so: %s", async (_, response, words) => {
    context.service.respond(response);
    const error = await rejection(context.partner.renders.media(ref("Render")));
    if (!ResponseValidationError.isInstance(error)) throw error;
    expect(error.message).toContain(words);
    expect(error.status).toBe(response.status ?? 200);
    expect(context.service.requests).toHaveLength(1);
  });

  it.each(fileTypes)("is a file when its content type is %s", async (type) => {
    context.service.respond({ headers: { "content-type": type }, body: file });
    const download = await context.partner.renders.media(ref("Render"));
    expect((await download.bytes()).length).toBe(file.length);
  });

  it.each<[string, string]>([
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["until the connection closes", "Connection: close\r\n\r\n"],
  ])("is an error when it is empty, %s, and does not replace the existing file", async (_, rest) => {
    const server = createServer((socket) => {
      socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n${rest}`));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const partner = new PodPartner({ baseUrl: `http://127.0.0.1:${port}/v2`, secretKey, retry: { retries: 0 } });
    const folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
    try {
      const path = join(folder, "mockup.png");
      await writeFile(path, "good");
      const media = () => partner.renders.media(ref("Render"));
      const error = await rejection((await media()).saveTo(path));
      if (!ResponseValidationError.isInstance(error)) throw error;
      expect(error).toMatchObject({ endpoint: "GET /renders/{renderReference}/media", status: 200 });
      expect(error.message).toContain("the file is empty");
      expect(await readFile(path, "utf8")).toBe("good");
      expect(await readdir(folder)).toEqual(["mockup.png"]);
      await expect((await media()).bytes()).rejects.toBeInstanceOf(ResponseValidationError);
      await expect((await media()).blob()).rejects.toBeInstanceOf(ResponseValidationError);
    } finally {
      await rm(folder, { recursive: true });
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe("a 304 response", () => {
  const context = useService();
  const unchanged: StubResponse = { status: 304, headers: { etag: '"1"' } };
  const calls: Readonly<
    Record<string, (partner: PodPartner, headers?: Record<string, string>) => PromiseLike<unknown>>
  > = {
    "renders.media": (partner, headers) => partner.renders.media(ref("Render"), { headers }),
    "renders.media with wait": (partner, headers) => partner.renders.media(ref("Render"), { headers, wait: true }),
    "renders.thumbnail": (partner, headers) => partner.renders.thumbnail(ref("Render"), { headers }),
    "catalog.products.media": (partner, headers) =>
      partner.catalog.products.media(ref("Product"), "a.png", { headers }),
    "catalog.products.layerImage": (partner, headers) =>
      partner.catalog.products.layerImage(`${context.service.origin}/a.png`, { headers }),
    "evidence.download": (partner, headers) =>
      partner.evidence.download(`${context.service.origin}/a.png`, { headers }),
  };

  it.each(Object.entries(calls))("without a conditional request is not a success: %s", async (_, call) => {
    context.service.respond(unchanged);
    const error = await rejection(call(context.partner));
    if (!ResponseValidationError.isInstance(error)) throw error;
    expect(error).toMatchObject({ status: 304, issues: [{ path: [] }] });
    expect(error.message).toContain("not conditional");
    expect(context.service.requests).toHaveLength(1);
  });

  it.each(Object.entries(calls))(
    "is accepted when the caller's own headers make the request conditional: %s",
    async (_, call) => {
      for (const name of ["If-None-Match", "if-modified-since"]) {
        context.service.respond(unchanged);
        expect(await call(context.partner, { [name]: '"1"' })).toMatchObject({ modified: false, etag: '"1"' });
      }
    },
  );

  it("without a conditional request is an invalid response", async () => {
    const statuses: number[] = [];
    context.service.respond(unchanged);
    const { baseUrl } = context.service;
    const hooks = { onInvalidResponse: ({ status }: { status: number }) => void statuses.push(status) };
    await rejection(new PodPartner({ baseUrl, secretKey, hooks }).renders.media(ref("Render")));
    expect(statuses).toEqual([304]);
  });
});
