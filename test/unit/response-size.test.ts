import { gzipSync } from "node:zlib";
import { PodPartner, ResponseTooLargeError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { secretKey, useService } from "../support/partner.ts";

const limit = 100_000;
const message = (length: number) => JSON.stringify({ message: "x".repeat(length) });

describe("an answer that is larger than maxResponseSize", () => {
  const context = useService();
  const bounded = (fetchLike?: typeof fetch) =>
    new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      maxResponseSize: limit,
      retry: { retries: 2, baseDelay: 0 },
      ...(fetchLike && { fetch: fetchLike }),
    });

  it("is refused by its announced length, once", async () => {
    context.service.always({ body: message(limit) });
    await expect(bounded().auth.validate()).rejects.toBeInstanceOf(ResponseTooLargeError);
    expect(context.service.requests).toHaveLength(1);
  });

  it("is refused by what comes out of a compressed body", async () => {
    context.service.always({ headers: { "content-encoding": "gzip" }, body: gzipSync(message(50 * limit)) });
    await expect(bounded().auth.validate()).rejects.toBeInstanceOf(ResponseTooLargeError);
  });

  it("is refused when it never ends, and its body is let go", async () => {
    let released = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(32)),
      cancel: () => {
        released = true;
      },
    });
    const partner = bounded(async () => new Response(endless));
    await expect(partner.auth.validate()).rejects.toBeInstanceOf(ResponseTooLargeError);
    expect(released).toBe(true);
  });

  it.each(["10", "0", "-1", "nonsense"])(
    "is refused by the bytes that come, when they were announced as %s",
    async (length) => {
      const headers = { "content-length": length };
      const partner = bounded(async () => new Response(message(50 * limit), { headers }));
      await expect(partner.auth.validate()).rejects.toBeInstanceOf(ResponseTooLargeError);
    },
  );

  it("passes up to the bound, its characters whole wherever its pieces are cut", async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ message: "€".repeat(1000) }));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
      bytes.slice(index * 7, index * 7 + 7),
    );
    const partner = bounded(async () => new Response(ReadableStream.from(pieces)));
    expect(await partner.auth.validate()).toEqual({ message: "€".repeat(1000) });
  });
});
