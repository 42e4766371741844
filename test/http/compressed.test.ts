import { createServer } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { ConnectionError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { useService } from "../support/partner.ts";
import { listen, listenRaw } from "../support/raw-server.ts";
import { ref } from "../support/references.ts";
import { clientOf, transports } from "../support/transports.ts";

/** Bytes that hardly compress, between the start and the end of a format. */
const filling = Buffer.from(Uint8Array.from({ length: 60_000 }, (_, index) => (index * index * 7919) % 253));
const pngHead = Buffer.from("89504e470d0a1a0a", "hex");
const pngEnd = Buffer.from("0000000049454e44ae426082", "hex");
const files = {
  PNG: Buffer.concat([pngHead, filling, pngEnd]),
  JPEG: Buffer.concat([Buffer.from("ffd8ffe0", "hex"), filling, Buffer.from("ffd9", "hex")]),
  "something else": filling,
};
const codings = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};
const cases = Object.keys(codings).flatMap((coding) =>
  Object.keys(files).map((format) => [coding as keyof typeof codings, format as keyof typeof files] as const),
);

describe.each(transports)("over $name", ({ name, over }) => {
  describe("a download with a compressed body", () => {
    const context = useService(over);
    const media = () => context.partner.renders.media(ref("Render"));
    const serve = (coding: keyof typeof codings, file: Buffer, share: number) => {
      const whole = codings[coding](file);
      const body = whole.subarray(0, Math.floor(whole.length * share));
      context.service.respond({ headers: { "content-encoding": coding, "content-length": String(body.length) }, body });
    };

    it("is requested without compression, unlike JSON", async () => {
      context.service.respond({ body: files.PNG }, { body: { message: "Yes." } });
      await (await media()).bytes();
      await context.partner.auth.validate();
      const [first, second] = context.service.requests.map(({ headers }) => headers["accept-encoding"]);
      expect(first).toBe("identity");
      expect(second).toContain("gzip");
    });

    it.each(cases)("with %s fails when it is cut in half: %s", async (coding, format) => {
      serve(coding, files[format], 0.5);
      const error = await rejection((await media()).bytes());
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ endpoint: "GET /renders/{renderReference}/media", sent: true });
    });

    const decoded = cases.filter(([coding]) => name === "fetch" || !["deflate", "zstd"].includes(coding));
    it.each(decoded.filter(([, format]) => format !== "something else"))(
      "with %s is returned when its format shows that it is complete: %s",
      async (coding, format) => {
        serve(coding, files[format], 1);
        expect(Buffer.from(await (await media()).bytes()).equals(files[format])).toBe(true);
      },
    );

    it("fails for another format, because the SDK cannot check that it is complete", async () => {
      serve("gzip", files["something else"], 1);
      await expect((await media()).bytes()).rejects.toThrow(/compressed.*cannot check that it is complete/);
    });

    it("is returned in chunks, whatever the size of the chunks", async () => {
      const pieces = [...files.PNG.subarray(0, 20), ...files.PNG.subarray(-20)].map((byte) => Uint8Array.of(byte));
      const body = () => ReadableStream.from(pieces) as ReadableStream<Uint8Array>;
      const partner = context.connect({
        fetch: async () => new Response(body(), { headers: { "content-encoding": "gzip" } }),
      });
      expect((await (await partner.renders.media(ref("Render"))).bytes()).length).toBe(40);
    });
  });

  describe("a download that ends when its connection closes", () => {
    /** Responds to every request as HTTP/1.0 does, without a length. */
    async function served(file: Uint8Array) {
      await using server = await listenRaw((socket) => {
        socket.write("HTTP/1.0 200 OK\r\nContent-Type: image/png\r\n\r\n");
        socket.end(file);
      });
      return await (await clientOf(server.origin, over).renders.media(ref("Render"))).bytes();
    }

    it.each(["PNG", "JPEG"] as const)("fails when its format shows that it is incomplete: %s", async (format) => {
      const whole = files[format];
      expect(Buffer.from(await served(whole)).equals(whole)).toBe(true);
      const error = await rejection(served(whole.subarray(0, whole.length / 2)));
      expect(error).toMatchObject({ name: "ConnectionError" });
      expect(String(error)).toContain("was truncated");
    });

    it("is returned as received when its format is not known", async () => {
      expect((await served(filling)).length).toBe(filling.length);
    });
  });

  describe("a download with a Content-Length", () => {
    it("has that length, whatever its last bytes are", async () => {
      const longer = Buffer.concat([files.JPEG, Buffer.from("more")]);
      await using server = await listen(createServer((_, response) => response.end(longer)));
      const bytes = await (await clientOf(server.origin, over).renders.media(ref("Render"))).bytes();
      expect(bytes.length).toBe(longer.length);
    });
  });
});
