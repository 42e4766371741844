import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { ResponseTooLargeError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { watchSockets } from "../support/open-handles.ts";
import { useService } from "../support/partner.ts";
import { listen } from "../support/raw-server.ts";
import { clientOf, transports } from "../support/transports.ts";

const limit = 100_000;
const message = (length: number) => JSON.stringify({ message: "x".repeat(length) });

describe("a response that is larger than maxResponseSize", () => {
  const context = useService();
  const bounded = (fetchLike: typeof fetch) =>
    context.connect({ maxResponseSize: limit, retry: { retries: 2, baseDelay: 0 }, fetch: fetchLike });

  it("is refused when its body never ends, and the body is cancelled", async () => {
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
    "is refused by the received bytes when the Content-Length is %s",
    async (length) => {
      const headers = { "content-length": length };
      const partner = bounded(async () => new Response(message(50 * limit), { headers }));
      await expect(partner.auth.validate()).rejects.toBeInstanceOf(ResponseTooLargeError);
    },
  );

  it("is accepted up to the limit, and characters split across chunks stay intact", async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ message: "€".repeat(1000) }));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
      bytes.slice(index * 7, index * 7 + 7),
    );
    const partner = bounded(async () => new Response(ReadableStream.from(pieces)));
    expect(await partner.auth.validate()).toEqual({ message: "€".repeat(1000) });
  });
});

describe.each(transports)("a response over $name that is larger than maxResponseSize", ({ over }) => {
  const context = useService();
  const bounded = () => context.connect({ maxResponseSize: limit, retry: { retries: 2, baseDelay: 0 }, ...over });

  it("is refused by its Content-Length, without a retry", async () => {
    context.service.respondAlways({ body: message(limit) });
    await expect(bounded().auth.validate()).rejects.toBeInstanceOf(ResponseTooLargeError);
    expect(context.service.requests).toHaveLength(1);
  });

  it("is refused by the size of its decompressed body", async () => {
    context.service.respondAlways({ headers: { "content-encoding": "gzip" }, body: gzipSync(message(50 * limit)) });
    await expect(bounded().auth.validate()).rejects.toBeInstanceOf(ResponseTooLargeError);
  });

  it("is not read on, and its connection is closed", async () => {
    using sockets = watchSockets();
    await using server = await listen(
      createServer((_, response) => {
        const write = (error?: unknown): void => {
          if (!error) response.write("x".repeat(limit), write);
        };
        write();
      }),
    );
    const error = await rejection(clientOf(server.origin, { ...over, maxResponseSize: limit }).auth.validate());
    expect(error).toBeInstanceOf(ResponseTooLargeError);
    await expect.poll(() => sockets.open).toBe(0);
  });
});
