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
  ["br", zlib.brotliCompressSync(text)],
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
  it("is asked for with the codings that the transport decodes", async () => {
    expect((await received("identity", text)).accepted).toBe("gzip, br");
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
