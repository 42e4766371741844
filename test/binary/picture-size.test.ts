import fc from "fast-check";
import type { ImageSource } from "pod-partner";
import { describe, expect, it } from "vitest";
import type { PictureSize } from "../../src/binary/picture.ts";
import { sizeIn } from "../../src/binary/picture.ts";
import { rejection } from "../support/exchange.ts";
import { useService } from "../support/partner.ts";
import { someImage } from "../support/uploads.ts";

const number = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, index) => (value >>> (8 * (bytes - 1 - index))) & 0xff);

/** The first bytes of a PNG (RFC 2083, 3.1, 4.1.1). */
const png = (width: number, height: number) =>
  Uint8Array.from([
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    ...number(13, 4),
    ...[0x49, 0x48, 0x44, 0x52],
    ...number(width, 4),
    ...number(height, 4),
    ...[8, 6, 0, 0, 0],
  ]);

const segment = (marker: number, content: Uint8Array) =>
  Uint8Array.from([0xff, marker, ...number(content.length + 2, 2), ...content]);

/** The first bytes of a JPEG (ITU T.81, B.2.2) with this many full segments of EXIF before its size. */
const jpeg = (width: number, height: number, segments = 1, marker = 0xc0) =>
  new Uint8Array(
    Buffer.concat([
      Uint8Array.from([0xff, 0xd8]),
      ...Array.from({ length: segments }, () => segment(0xe1, new Uint8Array(65_533).fill(0x45))),
      segment(marker, Uint8Array.from([8, ...number(height, 2), ...number(width, 2), 1, 1, 0x11, 0])),
    ]),
  );

const chunked = (bytes: Uint8Array, size: number) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });

describe("onDownsize (specification 2.7)", () => {
  const context = useService();

  /** The sizes that an upload reports, and whether the bytes arrived unchanged. */
  async function reported(source: ImageSource, bytes: Uint8Array, method: "upload" | "uploadOnce" = "upload") {
    const sizes: PictureSize[] = [];
    context.service.respond(someImage);
    await context.partner.images[method](source, { onDownsize: (size) => sizes.push(size) });
    expect(context.service.requests.at(-1)?.body.equals(bytes)).toBe(true);
    return sizes;
  }

  it.each([
    [7000, 7000, false],
    [7001, 7000, true],
    [7000, 7001, true],
    [65_535, 1, true],
    [1, 1, false],
  ])("for %i × %i pixels: %s", async (width, height, isReported) => {
    const expected = isReported ? [{ width, height }] : [];
    for (const bytes of [png(width, height), jpeg(width, height), jpeg(width, height, 0, 0xc2)]) {
      expect(await reported(bytes, bytes)).toEqual(expected);
      expect(await reported(new Blob([bytes as Uint8Array<ArrayBuffer>]), bytes)).toEqual(expected);
      expect(await reported(chunked(bytes, 10_000), bytes)).toEqual(expected);
    }
  });

  it("finds the size after EXIF segments of 900 kB, and gives up after one megabyte", async () => {
    const near = jpeg(8000, 9000, 14);
    const far = jpeg(8000, 9000, 17);
    for (const source of [(bytes: Uint8Array) => bytes, (bytes: Uint8Array) => new Blob([Uint8Array.from(bytes)])])
      expect([await reported(source(near), near), await reported(source(far), far)]).toEqual([
        [{ width: 8000, height: 9000 }],
        [],
      ]);
    expect(await reported(chunked(near, 3_000), near)).toEqual([{ width: 8000, height: 9000 }]);
    expect(await reported(chunked(far, 3_000), far)).toEqual([]);
  });

  it("is not called for a header that cannot be read, and the picture is sent", async () => {
    const cut = png(9000, 9000).slice(0, 18);
    expect(await reported(cut, cut)).toEqual([]);
    expect(await reported(chunked(cut, 4), cut)).toEqual([]);
  });

  it("is called by uploadOnce only if the picture is sent", async () => {
    const bytes = png(7001, 1);
    expect(await reported(bytes, bytes, "uploadOnce")).toEqual([{ width: 7001, height: 1 }]);
    const sizes: PictureSize[] = [];
    await context.partner.images.uploadOnce(bytes, { onDownsize: (size) => sizes.push(size) });
    expect(sizes).toEqual([]);
  });

  it("ends the call with the error that it throws, and nothing is sent", async () => {
    const refused = new Error("too large for us");
    const onDownsize = () => {
      throw refused;
    };
    for (const method of ["upload", "uploadOnce"] as const)
      expect(await rejection(context.partner.images[method](png(7001, 1), { onDownsize }))).toBe(refused);
    expect(context.service.requests).toHaveLength(0);
  });
});

describe("a hostile header", () => {
  const signature = fc.constantFrom(
    png(1, 1).subarray(0, 8),
    png(1, 1).subarray(0, 16),
    Uint8Array.from([0xff, 0xd8, 0xff]),
  );
  const jpegBytes = fc.constantFrom(0xff, 0x00, 0x01, 0xc0, 0xc4, 0xd8, 0xda, 0xe1, 0x02, 0x66, 0x74, 0x79, 0x70);
  const tail = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(jpegBytes, { maxLength: 300 }).map((all) => Uint8Array.from(all)),
  );

  it("neither throws nor loops, and gives whole numbers or nothing", () => {
    fc.assert(
      fc.property(signature, tail, (head, rest) => {
        const size = sizeIn(Uint8Array.from([...head, ...rest]));
        for (const side of size === undefined ? [] : [size.width, size.height])
          expect(Number.isInteger(side) && side >= 0).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("ends in megabytes of fill bytes or empty segments", () => {
    for (const fill of [0xff, 0x00]) {
      const bytes = new Uint8Array(4_000_000).fill(fill);
      bytes.set([0xff, 0xd8, 0xff]);
      expect(sizeIn(bytes)).toBeUndefined();
    }
  });
});
