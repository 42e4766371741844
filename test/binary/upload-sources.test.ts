import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { type ImageSource, RequestValidationError } from "pod-partner";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { useService } from "../support/partner.ts";
import { png } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { transports } from "../support/transports.ts";

const response = { body: { image: { reference: ref("Image") } } };

/** A source that has all its chunks at hand. `onChunk` is called before each one. A Node stream reads ahead by itself, in bounded memory. */
const atHand: Readonly<Record<string, (chunk: Uint8Array, onChunk: () => boolean) => ImageSource>> = {
  "an iterable": async function* (chunk, onChunk) {
    yield png;
    while (onChunk()) yield chunk;
  },
  "a web stream": (chunk, onChunk) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(png),
      pull: (controller) => (onChunk() ? controller.enqueue(chunk) : controller.close()),
    }),
};

describe.each(transports)("an upload over $name of small chunks that are all at hand", ({ over }) => {
  const context = useService(over);

  it.each(Object.keys(atHand).flatMap((kind) => [0, 2].map((size) => [kind, size] as const)))(
    "lets the program go on, and ends at an abort: %s with chunks of %d bytes",
    async (kind, size) => {
      const all = 20_000;
      const controller = new AbortController();
      const reason = new Error("the customer has left");
      let given = 0;
      const onChunk = () => {
        given += 1;
        if (given === 1_000) setImmediate(() => controller.abort(reason));
        return given < all;
      };
      const source = atHand[kind]?.(new Uint8Array(size), onChunk) as ImageSource;
      expect(await rejection(context.partner.images.upload(source, { signal: controller.signal }))).toBe(reason);
      expect(given).toBeLessThan(all);
    },
  );
});

describe("an upload", () => {
  const context = useService();
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "upload-sources-"));
    await writeFile(join(folder, "a design.png"), png);
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** The message of the refusal. No request is sent. */
  async function refusal(source: unknown): Promise<string> {
    const error = await rejection(context.partner.images.upload(source as never));
    if (!(error instanceof RequestValidationError)) throw error;
    expect(context.service.requests).toHaveLength(0);
    return error.issues.map(({ message }) => message).join();
  }

  it.each([
    ["an ArrayBuffer", () => Uint8Array.from(png).buffer],
    ["a file URL", () => pathToFileURL(join(folder, "a design.png"))],
    ["a response", () => new Response(Uint8Array.from(png), { status: 203 })],
  ])("accepts %s", async (_, source) => {
    context.service.respond(response);
    await context.partner.images.upload(source());
    expect(Buffer.from(context.service.requests[0]?.body ?? "").equals(Buffer.from(png))).toBe(true);
  });

  it("accepts the response of a real fetch", async () => {
    context.service.respond({ body: png }, response);
    await context.partner.images.upload(await fetch(`${context.service.baseUrl}/design.png`));
    expect(Buffer.from(context.service.requests[1]?.body ?? "").equals(Buffer.from(png))).toBe(true);
  });

  it("refuses a response that is not 2xx by its status, and cancels its body", async () => {
    let canceled = false;
    const body = new ReadableStream({
      cancel: () => {
        canceled = true;
      },
    });
    expect(await refusal(new Response(body, { status: 404 }))).toBe(
      "expected a response with a status of 2xx, not 404",
    );
    expect(canceled).toBe(true);
  });

  it("refuses a response that is not 2xx whose body another reader has locked", async () => {
    const response = new Response(new ReadableStream(), { status: 500 });
    response.body?.getReader();
    expect(await refusal(response)).toBe("expected a response with a status of 2xx, not 500");
  });

  it("refuses a response without a body", async () => {
    expect(await refusal(new Response(null, { status: 204 }))).toBe("the response has no body");
  });

  it("refuses a response whose body was already read", async () => {
    const response = new Response(Uint8Array.from(png));
    await response.bytes();
    expect(await refusal(response)).toBe("the body of the response was already read; a body can be read only once");
  });

  it("refuses a stream that was already read", async () => {
    const stream = Readable.from([png]);
    for await (const _ of stream);
    expect(await refusal(stream)).toBe("the stream gives no bytes; one that was read before cannot be read again");
  });

  it("refuses an ArrayBuffer that is not an image", async () => {
    expect(await refusal(new ArrayBuffer(20))).toMatch(/neither a JPEG nor a PNG/);
  });

  it.each([
    ["a path", () => join(folder, "missing.png")],
    ["a file URL", () => pathToFileURL(join(folder, "missing.png"))],
  ])("names the path of a missing file that is given as %s", async (_, source) => {
    expect(await refusal(source())).toContain(`the file "${join(folder, "missing.png")}" does not exist`);
  });

  it("names a folder, and a URL that is given as a path", async () => {
    expect(await refusal(folder)).toBe(`the file ${JSON.stringify(folder)} is a folder`);
    const url = "https://shop.example/design.png";
    expect(await refusal(url)).toBe(`the file "${url}" is a URL: pass the response of \`fetch\``);
  });

  it("refuses a URL that is not a file URL", async () => {
    expect(await refusal(new URL("https://shop.example/design.png"))).toBe(
      "expected a `file:` URL; for any other URL, pass the response of `fetch`",
    );
  });
});
