import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import fc from "fast-check";
import { RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { useRefusals } from "../support/refusals.ts";

const prefix = `/v2/products/${ref("Product")}/media/`;

describe("a hostile file name cannot leave its path segment (specification 4.3)", () => {
  const { context } = useRefusals();

  /** The name is refused without a request, or sent as exactly one segment that decodes to the name. */
  async function staysInPlace(name: string): Promise<void> {
    context.service.reset();
    context.service.respondAlways({ headers: { "content-type": "image/jpeg" }, body: jpeg });
    let refusal: unknown;
    try {
      const download = await context.partner.catalog.products.media(ref("Product"), name);
      await download.bytes();
    } catch (error) {
      refusal = error;
    }
    if (refusal !== undefined) {
      if (!RequestValidationError.isInstance(refusal)) throw refusal;
      expect(refusal.issues.map(({ path }) => path)).toStrictEqual([["filename"]]);
      expect(context.service.requests).toHaveLength(0);
      return;
    }
    const path = context.service.requests[0]?.path ?? "";
    expect(context.service.requests).toHaveLength(1);
    expect(path.startsWith(prefix)).toBe(true);
    const segment = path.slice(prefix.length);
    expect(segment).not.toMatch(/[/?#\\]/);
    expect(decodeURIComponent(segment)).toBe(name);
    // The path as a server resolves it.
    expect(new URL(path, context.service.origin).pathname).toBe(path);
  }

  it.each([
    "front.png",
    "",
    ".",
    "..",
    "...",
    "a/b",
    "/",
    "../orders",
    "a\\b",
    "..\\..",
    "%2e%2e",
    "%2E.",
    "%2e",
    "%2f",
    "a%2fb",
    "%",
    "?cursor=1",
    "a?b#c",
    "#",
    "a;b=c",
    "a b",
    "\u0000",
    "a\r\nX-Evil: 1",
    "a\tb",
    "\t..",
    ".\n.",
    "\u007f",
    "\u0085",
    "é.png",
    "e\u0301.png",
    "😀.png",
    "\ud800",
    "\u202egnp.exe",
    "@evil.example",
    "//evil.example",
    "http://evil.example/",
    "x".repeat(2000),
  ])("with the name %j", (name) => staysInPlace(name));

  it.each([undefined, null, 5, {}, ["a.png"]])("refuses %j, which is not a string", async (name) => {
    const error = await rejection(context.partner.catalog.products.media(ref("Product"), name as never));
    if (!RequestValidationError.isInstance(error)) throw error;
    expect(error.issues.map(({ path }) => path)).toStrictEqual([["filename"]]);
    expect(context.service.requests).toHaveLength(0);
  });

  it.each([
    ["", "must not be empty"],
    ["..", '".." would change the path'],
    [".", '"." would change the path'],
    ["a/b.png", "must not contain a slash or a backslash"],
    ["a\tb.png", "must not contain control characters or lone surrogates"],
    [5, "expected a string; got number"],
    [null, "expected a string; got null"],
  ])("says what is wrong with the name %j", async (name, message) => {
    const error = await rejection(context.partner.catalog.products.media(ref("Product"), name as never));
    expect(error).toMatchObject({ issues: [{ path: ["filename"], message }] });
    expect(context.service.requests).toHaveLength(0);
  });

  it("with random names", async () => {
    const piece = fc.constantFrom(
      "..",
      ".",
      "/",
      "\\",
      "%2e",
      "%2f",
      "%",
      "?",
      "#",
      "\u0000",
      "\n",
      "a",
      "é",
      "\udc00",
      ";",
    );
    const name = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
    );
    await fc.assert(fc.asyncProperty(name, staysInPlace), { numRuns: 150 });
  });
});

describe("an upload is checked before it is sent (specification 2.7)", () => {
  const { refuses } = useRefusals();
  const gif = new TextEncoder().encode("GIF89a and more of it");
  const failsOnCancel = (chunk: Uint8Array) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(chunk),
      cancel: () => Promise.reject(new Error("the disk is gone")),
    });
  const bad = {
    "bytes of a GIF": () => gif,
    "no bytes": () => new Uint8Array(),
    "half of a PNG signature": () => Uint8Array.of(0x89, 0x50, 0x4e, 0x47),
    "a Blob with the type of a JPEG and other bytes": () => new Blob([gif], { type: "image/jpeg" }),
    "a web stream of a GIF": () => new Blob([gif]).stream(),
    "a Node stream of a GIF": () => Readable.from([Buffer.from(gif)]),
    "an empty stream": () => Readable.from([]),
    "a stream of text": () => Readable.from(["text"]),
    "a stream of a GIF that fails when it is closed": () => failsOnCancel(gif),
    "a stream that fails": () => createReadStream("/nowhere/at/all.png"),
    "a path without a file": () => "/nowhere/at/all.png",
    "the path of a folder": () => import.meta.dirname,
    "a number": () => 5 as never,
    nothing: () => undefined as never,
  };

  refuses(
    Object.entries(bad).flatMap(([what, source]) => [
      [`${what} for images.upload`, (partner) => partner.images.upload(source()), [[]]],
      [`${what} for evidence.upload`, (partner) => partner.evidence.upload(source()), [[]]],
    ]),
  );
});
