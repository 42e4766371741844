import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { watchSockets, watchTimers } from "../support/open-handles.ts";
import { combinedOrder } from "../support/orders.ts";
import { png } from "../support/pictures.ts";
import { listen } from "../support/raw-server.ts";
import { ref } from "../support/references.ts";
import { clientOf, transports } from "../support/transports.ts";

const piece = 65_536;
const reference = JSON.stringify({ image: { reference: ref("Image") } });
const media = { "content-type": "image/png" };

/** A stream of an image, and how many bytes were read from it. */
function imageOf(pieces: number) {
  const source = { read: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (source.read >= pieces * piece) return controller.close();
        const bytes = new Uint8Array(piece);
        if (source.read === 0) bytes.set(png.subarray(0, 8));
        source.read += piece;
        controller.enqueue(bytes);
      },
      cancel: () => {
        source.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { source, stream };
}

/** Waits until a number stays the same for 500 turns of the event loop, which both ends of the connection share. */
async function still(read: () => number): Promise<number> {
  let before = read();
  for (let turns = 0; turns < 500; turns += 1) {
    await new Promise(setImmediate);
    if (before !== read()) turns = 0;
    before = read();
  }
  return before;
}

describe.each(transports)("over $name", ({ name, over }) => {
  describe("the body of a request", () => {
    const lengths: IncomingMessage["headers"][] = [];
    let bytes = 0;
    const counting = () =>
      createServer((request, response) => {
        lengths.push(request.headers);
        request.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
        });
        request.on("end", () => response.setHeader("content-type", "application/json").end(reference));
      });

    it.each([
      ["bytes", () => Uint8Array.from(png), String(png.length)],
      ["a blob", () => new Blob([Uint8Array.from(png)]), String(png.length)],
      ["an empty body", undefined, "0"],
      ["a stream", () => imageOf(10).stream, undefined],
    ])("has its exact length if that is known: %s", async (_, source, length) => {
      lengths.length = 0;
      await using service = await listen(counting());
      const partner = clientOf(service.origin, over);
      await (source === undefined ? partner.request("POST", "/things") : partner.images.upload(source()));
      expect(lengths.map((headers) => [headers["content-length"], headers["transfer-encoding"]])).toEqual([
        [length, length === undefined ? "chunked" : undefined],
      ]);
    });

    it("has the length of its bytes, not of its characters", async () => {
      lengths.length = 0;
      bytes = 0;
      await using service = await listen(counting());
      await clientOf(service.origin, over).request("POST", "/things", { body: { name: "Zoë 🎁" } });
      expect(lengths[0]?.["content-length"]).toBe("20");
      expect(bytes).toBe(20);
    });

    it("is read only as fast as the server reads it", async () => {
      let incoming: IncomingMessage | undefined;
      const server = createServer((request, response) => {
        incoming = request;
        request.on("end", () => response.setHeader("content-type", "application/json").end(reference));
      });
      await using service = await listen(server);
      const { source, stream } = imageOf(1_600);
      const uploading = clientOf(service.origin, over).images.upload(stream);
      // The buffers of the two sockets take a few megabytes.
      const before = await still(() => source.read);
      expect(before).toBeLessThan(40_000_000);
      incoming?.resume();
      await uploading;
      expect(source.read).toBe(1_600 * piece);
    });

    it("is cancelled when the call ends, and leaves no socket", async () => {
      using sockets = watchSockets();
      await using service = await listen(createServer(() => undefined));
      const { source, stream } = imageOf(1_600);
      const controller = new AbortController();
      const uploading = rejection(clientOf(service.origin, over).images.upload(stream, { signal: controller.signal }));
      await still(() => source.read);
      controller.abort("enough");
      expect(await uploading).toBe("enough");
      await expect.poll(() => [source.cancelled, sockets.open]).toEqual([true, 0]);
    });

    it("that fails ends the request: the server sees that it is incomplete", async () => {
      using sockets = watchSockets();
      const ended: boolean[] = [];
      const { promise: received, resolve: began } = Promise.withResolvers<unknown>();
      const server = createServer((request) => {
        request.resume().on("close", () => ended.push(request.complete));
        request.once("data", began);
      });
      await using service = await listen(server);
      let chunks = 0;
      const source = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          if (chunks++ > 3) {
            await received;
            throw new Error("the disk is gone");
          }
          controller.enqueue(Uint8Array.from(png));
        },
      });
      const error = await rejection(clientOf(service.origin, over).images.upload(source));
      expect(error).toMatchObject({ name: "ConnectionError" });
      expect(String(error)).toContain("the disk is gone");
      await expect.poll(() => [ended, sockets.open]).toEqual([[false], 0]);
    });
  });

  describe("the body of a download", () => {
    it("is read only as fast as the caller reads it", async () => {
      let written = 0;
      const server = createServer((_, response) => {
        response.writeHead(200, { ...media, "content-length": 1_600 * piece });
        const write = () => {
          while (written < 1_600 * piece) {
            written += piece;
            if (!response.write(new Uint8Array(piece))) return void response.once("drain", write);
          }
          response.end();
        };
        write();
      });
      await using service = await listen(server);
      const download = await clientOf(service.origin, over).renders.media(ref("Render"));
      const reader = download.stream().getReader();
      await reader.read();
      expect(await still(() => written)).toBeLessThan(40_000_000);
      let length = piece;
      for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.length;
      expect(written).toBe(1_600 * piece);
      expect(length).toBeGreaterThan(1_599 * piece);
    });
  });

  describe("aborted calls", () => {
    it("500 of them, at any point, leave no socket and no timer", async () => {
      using sockets = watchSockets();
      using timers = watchTimers();
      let requests = 0;
      const respond = (response: ServerResponse) => {
        const turn = requests++ % 4;
        // No head, a part of the body, and a whole response.
        if (turn === 0) return;
        response.writeHead(200, { "content-type": turn === 1 ? "image/png" : "application/json" });
        if (turn === 3) response.end("{}");
        else response.write('{"message');
      };
      const server = createServer((request, response) => void request.resume().on("end", () => respond(response)));
      await using service = await listen(server);
      const partner = clientOf(service.origin, over);
      const call = async (number: number): Promise<unknown> => {
        const controller = new AbortController();
        const { signal } = controller;
        const calls = [
          () => partner.request("GET", "/things", { signal }),
          () => partner.orders.create(combinedOrder, { signal }),
          () => partner.renders.media(ref("Render"), { signal }).then((download) => download.bytes()),
          () => partner.images.upload(imageOf(20).stream, { signal }),
        ];
        const failure = rejection(
          Promise.resolve(calls[number % calls.length]?.()).then(() => Promise.reject("ended")),
        );
        // From before the connection opens to after the response.
        for (let turns = number % 13; turns > 0; turns -= 1) await new Promise(setImmediate);
        controller.abort("enough");
        return failure;
      };
      const seen = new Set<unknown>();
      for (let round = 0; round < 5; round += 1) {
        const outcomes = await Promise.all(Array.from({ length: 100 }, (_, index) => call(round * 100 + index)));
        for (const outcome of outcomes) seen.add(typeof outcome === "string" ? outcome : (outcome as Error).name);
      }
      // A response without the data that the call needs is an error as well.
      for (const name of seen) expect(["enough", "ended", "ResponseValidationError"]).toContain(name);
      expect(seen).toContain("enough");
      // `fetch` keeps the connections that it has opened in advance.
      if (name === "nodeTransport") await expect.poll(() => sockets.open - sockets.used).toBe(0);
      const close = () => {
        for (const socket of service.sockets) socket.destroy();
        return sockets.open;
      };
      await expect.poll(close).toBe(0);
      expect(timers.open).toBe(0);
    });
  });
});
