import { createServer } from "node:http";
import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { listen } from "../support/raw-server.ts";
import { clientOf } from "./support.ts";

const data = { message: "x".repeat(5_000), numbers: Array.from({ length: 5_000 }, (_, index) => index) };
const text = Buffer.from(JSON.stringify(data));
const codings: readonly (readonly [string, Buffer])[] = [
  ["identity", text],
  ["gzip", zlib.gzipSync(text)],
  ["X-GZIP", zlib.gzipSync(text)],
  ["deflate", zlib.deflateSync(text)],
  // Some servers send `deflate` without the header of zlib.
  ["deflate", zlib.deflateRawSync(text)],
  ["br", zlib.brotliCompressSync(text)],
  ["zstd", zlib.zstdCompressSync(text)],
  ["gzip, br", zlib.brotliCompressSync(zlib.gzipSync(text))],
];

/** Serves one body, in pieces, and returns the result of one call, and the `Accept-Encoding` of the request. */
async function received(coding: string, body: Buffer, options = {}) {
  let accepted: unknown;
  const server = createServer((request, response) => {
    accepted = request.headers["accept-encoding"];
    response.writeHead(200, { "content-type": "application/json", "content-encoding": coding });
    for (let at = 0; at < body.length; at += 500) response.write(body.subarray(at, at + 500));
    response.end();
  });
  await using service = await listen(server);
  const call = clientOf(service.origin, options).request("GET", "/things");
  const [result] = await Promise.allSettled([call]);
  return { result, accepted };
}

describe("a compressed response", () => {
  it("is asked for with the codings that this Node can decode", async () => {
    expect((await received("identity", text)).accepted).toBe("gzip, deflate, br, zstd");
  });

  it.each(codings)("is decoded: %s", async (coding, body) => {
    expect((await received(coding, body)).result).toEqual({ status: "fulfilled", value: data });
  });

  it.each(codings.slice(1))("is an error if it is truncated: %s", async (coding, body) => {
    for (const length of [body.length / 2, body.length - 1]) {
      const { result } = await received(coding, body.subarray(0, length));
      expect(result).toMatchObject({ status: "rejected", reason: { name: "ConnectionError", sent: true } });
    }
  });

  describe("of zstd frames", () => {
    const { ZSTD_c_checksumFlag, ZSTD_c_contentSizeFlag } = zlib.constants;
    const half = Math.floor(text.length / 2);
    const [first, second] = [zlib.zstdCompressSync(text.subarray(0, half)), zlib.zstdCompressSync(text.subarray(half))];
    // Magic number 184D2A50, and 3 bytes of content (RFC 8878, 3.1.2).
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const checksum = zlib.zstdCompressSync(text, { params: { [ZSTD_c_checksumFlag]: 1, [ZSTD_c_contentSizeFlag]: 0 } });
    const repeated = zlib.zstdCompressSync(Buffer.alloc(300_000, 0x20));
    const bodies: readonly (readonly [string, Buffer])[] = [
      ["two frames", Buffer.concat([first, second])],
      ["a skippable frame between two others", Buffer.concat([first, skippable, second])],
      ["a checksum and no content size", checksum],
      ["a frame of one repeated byte", Buffer.concat([repeated, first, second])],
    ];

    it.each(bodies)("is decoded: %s", async (_, body) => {
      expect((await received("zstd", body)).result).toEqual({ status: "fulfilled", value: data });
    });

    it.each(bodies)("is an error if the last byte is missing: %s", async (_, body) => {
      const { result } = await received("zstd", body.subarray(0, -1));
      expect(result).toMatchObject({ status: "rejected", reason: { name: "ConnectionError", sent: true } });
    });
  });

  it.each(codings.slice(1))("is an error if it is not compressed: %s", async (coding) => {
    const { result } = await received(coding, text);
    expect(result).toMatchObject({ status: "rejected", reason: { name: "ConnectionError", sent: true } });
  });

  it.each(codings.slice(1))("ends at `maxResponseSize`, which counts the decoded bytes: %s", async (coding, body) => {
    const { result } = await received(coding, body, { maxResponseSize: text.length - 1 });
    expect(result).toMatchObject({ status: "rejected", reason: { name: "ResponseTooLargeError" } });
    expect((await received(coding, body, { maxResponseSize: text.length })).result.status).toBe("fulfilled");
  });

  it("is read as it is if its coding is unknown", async () => {
    for (const coding of ["lzma", "gzip, lzma", "gzip, gzip, gzip, gzip"])
      expect((await received(coding, text)).result).toEqual({ status: "fulfilled", value: data });
  });

  it("may be empty", async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": 0 }).end();
    });
    await using service = await listen(server);
    expect(await clientOf(service.origin).request("GET", "/things")).toBeUndefined();
  });
});
