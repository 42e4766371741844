import { describe, expect, it } from "vitest";
import { openBody, readText } from "../../src/http/transport.ts";

/** Reads a response whose body has these chunks. */
function read(...chunks: readonly Uint8Array<ArrayBuffer>[]): Promise<string> {
  const response = new Response(ReadableStream.from(chunks));
  return readText(openBody(response), response, 100, "GET /orders");
}

describe("the text of a body", () => {
  const bytes = new TextEncoder().encode("Zoë → 日本");

  it("is the same however the bytes are split into chunks", async () => {
    for (let end = 0; end <= bytes.length; end += 1) {
      expect(await read(bytes.slice(0, end), bytes.slice(end))).toBe("Zoë → 日本");
    }
    expect(await read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toBe("Zoë → 日本");
  });

  it("is the text of its only chunk", async () => {
    expect(await read(bytes)).toBe("Zoë → 日本");
  });

  it("is empty without a chunk", async () => {
    expect(await read()).toBe("");
  });

  it("does not contain a byte order mark", async () => {
    expect(await read(Uint8Array.of(0xef), Uint8Array.of(0xbb, 0xbf, 0x7b, 0x7d))).toBe("{}");
  });
});
