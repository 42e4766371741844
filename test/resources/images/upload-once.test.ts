import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { type KeyValueStorage, memoryStorage } from "pod-partner";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StorageLostEvent } from "../../../src/http/events.ts";
import { rejection } from "../../support/exchange.ts";
import { useService } from "../../support/partner.ts";
import { jpeg, png } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";
import { imageOf, keysOf, lostStorage, partnerOf, sha256, someImage } from "../../support/uploads.ts";

const reference = ref("Image", "1");

async function* pieces() {
  yield png.subarray(0, 3);
  yield png.subarray(3);
}

describe("images.uploadOnce (specification 2.7, 4.5)", () => {
  const context = useService();
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pod-partner-once-"));
    await writeFile(join(folder, "design.png"), png);
  });
  afterAll(() => rm(folder, { recursive: true }));

  const sources = {
    "a path": () => join(folder, "design.png"),
    "a file: URL": () => pathToFileURL(join(folder, "design.png")),
    "a Buffer": () => Buffer.from(png),
    "an ArrayBuffer": () => Uint8Array.from(png).buffer,
    "a Blob": () => new Blob([png], { type: "image/png" }),
    "a Response": () => new Response(Uint8Array.from(png)),
    "a web stream": () => new Blob([png]).stream(),
    "a Node stream": () => Readable.from([png.subarray(0, 3), png.subarray(3)]),
    "an async iterable": () => pieces(),
  };

  it.each(Object.entries(sources))("sends the bytes of %s once", async (_, source) => {
    const { service, partner } = context;
    service.respond(someImage);
    const first = await partner.images.uploadOnce(source());
    expect(first).toStrictEqual({ reference, uploaded: true });
    expect(service.requests[0]?.body.equals(png)).toBe(true);
    expect(service.requests[0]?.headers).toMatchObject({
      "content-length": String(png.length),
      "content-type": "application/octet-stream",
    });
    expect(await partner.images.uploadOnce(png)).toStrictEqual({ reference, uploaded: false });
    expect(service.requests).toHaveLength(1);
  });

  it("sends other content, and remembers each by its SHA-256", async () => {
    const storage = memoryStorage();
    const partner = partnerOf(context.service, { storage });
    context.service.respond(imageOf(png), imageOf(jpeg));
    const first = await partner.images.uploadOnce(png);
    const second = await partner.images.uploadOnce(jpeg);
    expect([first.uploaded, second.uploaded]).toEqual([true, true]);
    expect(second.reference).not.toBe(first.reference);
    const keys = await keysOf(storage);
    expect(keys.map((key) => key.replace(/^.*\}:/, "")).sort()).toEqual(
      [`image:${sha256(png)}`, `image:${sha256(jpeg)}`].sort(),
    );
  });

  it("remembers the image in a new client with the same storage, but not in one of another key", async () => {
    const storage = memoryStorage();
    context.service.respondAlways(someImage);
    await partnerOf(context.service, { storage }).images.uploadOnce(png);
    expect(await partnerOf(context.service, { storage }).images.uploadOnce(png)).toMatchObject({ uploaded: false });
    const other = partnerOf(context.service, { storage, secretKey: "another-key-0123456789" });
    expect(await other.images.uploadOnce(png)).toMatchObject({ uploaded: true });
  });

  it("sends the content again with images.upload", async () => {
    context.service.respondAlways(someImage);
    await context.partner.images.uploadOnce(png);
    await context.partner.images.upload(png);
    expect(context.service.requests).toHaveLength(2);
  });

  it("uploads while the storage cannot be reached, and reports it once", async () => {
    const lost: StorageLostEvent[] = [];
    const hooks = { onStorageLost: (event: StorageLostEvent) => lost.push(event) };
    const partner = partnerOf(context.service, { storage: lostStorage(), hooks });
    context.service.respondAlways(someImage);
    for (let time = 0; time < 2; time += 1)
      expect(await partner.images.uploadOnce(png)).toEqual({ reference, uploaded: true });
    expect(lost).toMatchObject([{ option: "storage" }]);
  });

  it.each([
    ["no JSON", "{"],
    ["JSON of another form", JSON.stringify({ image: reference })],
    ["a reference of another kind", JSON.stringify({ reference: ref("Order", "1") })],
    ["null", "null"],
  ])("uploads if the storage has %s for the content", async (_, value) => {
    const memory = memoryStorage();
    const storage: KeyValueStorage = {
      ...memory,
      get: async (key) => (key.includes(":image:") ? undefined : memory.get(key)),
    };
    context.service.respondAlways(someImage);
    await partnerOf(context.service, { storage }).images.uploadOnce(png);
    const { ScopedStorage } = await import("../../../src/storage/scoped-storage.ts");
    const [key = ""] = await keysOf(memory);
    const scope = /\{(.*)\}/.exec(key)?.[1] ?? "";
    await new ScopedStorage(memory, scope).set(`image:${sha256(png)}`, new TextEncoder().encode(value));
    const again = partnerOf(context.service, { storage: memory });
    expect(await again.images.uploadOnce(png)).toEqual({ reference, uploaded: true });
    expect(await again.images.uploadOnce(png)).toEqual({ reference, uploaded: false });
  });

  it("uploads if the value in the storage is damaged", async () => {
    const storage = memoryStorage();
    context.service.respondAlways(someImage);
    await partnerOf(context.service, { storage }).images.uploadOnce(png);
    const [key = ""] = await keysOf(storage);
    const value = (await storage.get(key)) ?? expect.fail();
    value[10] = (value[10] ?? 0) ^ 1;
    await storage.set(key, value);
    expect(await partnerOf(context.service, { storage }).images.uploadOnce(png)).toMatchObject({ uploaded: true });
  });

  it("remembers nothing after a failed upload, or with a response that breaks its schema", async () => {
    const { service } = context;
    const partner = partnerOf(service, { responses: "report" });
    service.respond({ status: 503, body: "busy" }, { body: { image: { reference: "x" } } }, someImage);
    expect(await rejection(partner.images.uploadOnce(png))).toMatchObject({ name: "ServerError" });
    expect(await rejection(partner.images.uploadOnce(png))).toMatchObject({ name: "ResponseValidationError" });
    expect(await partner.images.uploadOnce(png)).toEqual({ reference, uploaded: true });
    expect(await partner.images.uploadOnce(png)).toEqual({ reference, uploaded: false });
  });

  it("does not remember a file that changes between its hash and the end of its upload", async () => {
    const path = join(folder, "changing.png");
    await writeFile(path, png);
    const { service, partner } = context;
    service.respond(async () => {
      await writeFile(path, Uint8Array.from([...png, 1]));
      return someImage;
    }, someImage);
    expect(await partner.images.uploadOnce(path)).toEqual({ reference, uploaded: true });
    expect(await partner.images.uploadOnce(png)).toEqual({ reference, uploaded: true });
  });

  it("sends the bytes that it hashed, also if the caller changes his own meanwhile", async () => {
    context.service.respondAlways(someImage);
    const own = Uint8Array.from(png);
    const upload = context.partner.images.uploadOnce(own);
    await new Promise(setImmediate);
    own.fill(0);
    await upload;
    expect(context.service.requests[0]?.body.equals(png)).toBe(true);
  });

  it("checks the options before it reads the source", async () => {
    const wrong = { onProgress: 1, onDownsize: "x", timeout: -1, onDownsized: () => undefined } as never;
    const error = await rejection(context.partner.images.uploadOnce(png, wrong));
    expect(error).toMatchObject({ name: "RequestValidationError", endpoint: "POST /images" });
    const paths = (error as { issues: { path: unknown }[] }).issues.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining([["onProgress"], ["onDownsize"], ["timeout"], ["onDownsized"]]));
    expect(await rejection(context.partner.images.uploadOnce(png, null as never))).toMatchObject({
      name: "RequestValidationError",
    });
  });

  it.each([
    ["other bytes", () => new Uint8Array(20)],
    ["a missing file", () => "/nowhere/design.png"],
    ["no source", () => 1 as never],
  ])("refuses %s with the line of the caller", async (_, source) => {
    const error = await rejection(context.partner.images.uploadOnce(source()));
    expect(error).toMatchObject({ name: "RequestValidationError", endpoint: "POST /images", timeline: [] });
    expect((error as Error).stack).toContain("upload-once.test.ts");
    expect(context.service.requests).toHaveLength(0);
  });

  it("an error of the service has the line of the caller, its status and the attempts", async () => {
    context.service.respond({ status: 403, body: { code: "no", message: "no" } });
    const error = await rejection(context.partner.images.uploadOnce(png));
    expect(error).toMatchObject({
      name: "PermissionDeniedError",
      endpoint: "POST /images",
      timeline: [{ outcome: "403" }],
    });
    expect((error as Error).stack).toContain("upload-once.test.ts");
  });

  it("sends the headers, the query and the priority of its options", async () => {
    context.service.respond(someImage);
    const options = { headers: { "x-trace": "1" }, query: { a: 1 }, priority: "low" } as const;
    await context.partner.images.uploadOnce(png, options);
    expect(context.service.requests[0]).toMatchObject({ path: "/v2/images?a=1", headers: { "x-trace": "1" } });
  });
});
