import { gzipSync } from "node:zlib";
import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { listenRaw } from "../support/raw-server.ts";
import { ref } from "../support/references.ts";
import { transports } from "../support/transports.ts";

const bytes = (...parts: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "hex") : part)));

/** A segment of a JPEG: a marker, the length, the content. */
const segment = (marker: string, content: Uint8Array): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length + 2);
  return bytes(marker, length, content);
};

const scan = bytes(segment("ffda", Buffer.alloc(10, 1)), "12ff00d9ffd034ffd7ffff00d956");
const thumbnail = bytes("ffd8", segment("ffdb", Buffer.alloc(65, 1)), scan, "ffd9");
const exif = segment("ffe1", bytes(Buffer.from("Exif\0\0"), thumbnail, Buffer.from("more")));
const tables = segment("ffc0", Buffer.alloc(15, 2));
/** A film as phones append it, and the second picture of a file with several. */
const film = bytes(Buffer.from("....ftypmp42"), Buffer.alloc(3_000, 7), "ffd8ff");

const jpegs: Readonly<Record<string, Buffer>> = {
  "a baseline JPEG": bytes("ffd8", segment("ffe0", Buffer.alloc(14)), tables, scan, "ffd9"),
  "a progressive JPEG": bytes("ffd8", tables, scan, segment("ffc4", Buffer.alloc(20)), scan, scan, "ffd9"),
  "a JPEG with a thumbnail": bytes("ffd8", exif, tables, scan, "ffd9"),
  "a JPEG with bytes between its segments": bytes("ffd8", exif, "0000", tables, "ffffff", scan, "ffffd9"),
  "a JPEG with a segment of 65,535 bytes": bytes("ffd8", segment("ffe2", Buffer.alloc(65_533, 0xd9)), scan, "ffd9"),
  "a JPEG with a segment without content": bytes("ffd8", "ffe00002", scan, "ffd9"),
  "a JPEG with a restart right before its end": bytes("ffd8", scan, "ffd0ffd9"),
};
const chunk = (type: string, content: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return bytes(length, Buffer.from(type), content, "01020304");
};
const pngs: Readonly<Record<string, Buffer>> = {
  "a PNG": bytes("89504e470d0a1a0a", chunk("IHDR", Buffer.alloc(13)), "0000000049454e44ae426082"),
  "a PNG with the name of its end inside": bytes(
    "89504e470d0a1a0a",
    chunk("IDAT", Buffer.from("IEND 0000 IEND")),
    "0000000049454e44ae426082",
  ),
};
const pictures = Object.entries({ ...jpegs, ...pngs });

/** What cannot be judged: nothing is claimed of it. */
const others: readonly (readonly [string, Buffer])[] = [
  ["a GIF", Buffer.from("GIF89a, then some bytes")],
  ["a WebP", Buffer.from("RIFF....WEBPVP8 ")],
  ["a film", Buffer.from("....ftypmp42")],
  ["one byte", Buffer.from([0xff])],
  ["two bytes of a JPEG", Buffer.from([0xff, 0xd8])],
  ["the first bytes of a PNG", Buffer.from("89504e47", "hex")],
];

describe.each(transports)("over $name, a file that ends when its connection closes", ({ over }) => {
  async function served(file: Uint8Array) {
    await using server = await listenRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nConnection: close\r\n\r\n");
      socket.end(file);
    });
    const options = { baseUrl: `${server.origin}/v2`, secretKey, retry: false, ...over } as const;
    return Buffer.from(await (await new PodPartner(options).renders.media(ref("Render"))).bytes());
  }

  it.each(pictures)("is accepted when it has its end, also with bytes after it: %s", async (_, picture) => {
    for (const file of [picture, bytes(picture, "00"), bytes(picture, film), bytes(picture, picture, film)])
      expect((await served(file)).equals(file)).toBe(true);
  });

  it.each(others)("is accepted when nothing is known of its end: %s", async (_, file) => {
    expect((await served(file)).equals(file)).toBe(true);
  });
});

/** Downloads a file that arrives in pieces and without a way to see an early end, other than its own bytes. */
async function inPieces(file: Uint8Array, size: number) {
  const pieces = Array.from({ length: Math.ceil(file.length / size) }, (_, index) =>
    file.subarray(index * size, (index + 1) * size),
  );
  const partner = new PodPartner({
    baseUrl: "https://partner.example/v2",
    secretKey,
    fetch: async () =>
      new Response(ReadableStream.from(pieces) as ReadableStream<Uint8Array>, {
        headers: { "content-type": "image/png", "content-encoding": "gzip" },
      }),
  });
  return Buffer.from(await (await partner.renders.media(ref("Render"))).bytes());
}

describe("a picture whose early end only its own bytes show", () => {
  it.each(pictures)("is accepted in pieces of any size: %s", async (_, picture) => {
    const file = bytes(picture, film);
    for (const size of [1, 2, 3, 7, 11, 64, 4_096]) expect((await inPieces(file, size)).equals(file)).toBe(true);
  });

  it.each(pictures)("fails wherever it is cut, also at the end of its thumbnail: %s", async (_, picture) => {
    const cuts = [...picture.keys()].filter((cut) => cut > 8 && (cut < 300 || cut > picture.length - 40));
    for (const cut of cuts) {
      const error = await rejection(inPieces(picture.subarray(0, cut), 50));
      expect(error).toMatchObject({ name: "ConnectionError", message: expect.stringContaining("was truncated") });
    }
  });

  it("is accepted when it arrives compressed over the network", async () => {
    for (const [, picture] of pictures) {
      const file = bytes(picture, film);
      await using server = await listenRaw((socket) => {
        const head =
          "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
        socket.write(head);
        socket.end(gzipSync(file));
      });
      const partner = new PodPartner({ baseUrl: `${server.origin}/v2`, secretKey, retry: false });
      const download = await partner.evidence.download(`${server.origin}/files/a.jpg`);
      expect(Buffer.from(await download.bytes()).equals(file)).toBe(true);
    }
  });
});
