import { inflateSync } from "node:zlib";
import fc from "fast-check";
import { placeholderOf } from "pod-partner";
import { rgbaToThumbHash } from "thumbhash";
import { describe, expect, it } from "vitest";
import type { Placeholder } from "../../src/binary/picture.ts";

type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** The thumbhash of a picture whose upper half has one colour and whose lower half has another one. */
function thumbhashOf(width: number, height: number, upper: Colour, lower = upper): string {
  const pixels = Uint8Array.from({ length: width * height * 4 }, (_, index) => {
    const colour = index < width * height * 2 ? upper : lower;
    return colour[index % 4] ?? 0;
  });
  return Buffer.from(rgbaToThumbHash(width, height, pixels)).toString("base64");
}

/** The width, the height, and the colour of a pixel in the middle of the first and the last row of a PNG without filters. */
function read({ dataUrl }: Placeholder) {
  const png = Buffer.from(dataUrl.replace("data:image/png;base64,", ""), "base64");
  expect(png.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const rows = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)));
  const pixel = (row: number) => [...rows.subarray(row * (width * 4 + 1) + 1 + (width >> 1) * 4).subarray(0, 4)];
  return { width, height, first: pixel(0), last: pixel(height - 1) };
}

const near = (colour: readonly number[], expected: readonly number[]) =>
  expected.every((part, index) => Math.abs((colour[index] ?? Number.NaN) - part) < 40);

describe("placeholderOf", () => {
  it("makes a PNG with the shape and the colours of the picture", () => {
    const placeholder = placeholderOf(thumbhashOf(60, 80, [220, 40, 40, 255], [40, 40, 220, 255]));
    if (placeholder === undefined) expect.fail("no placeholder");
    const { width, height, first, last } = read(placeholder);
    expect([width, height]).toEqual([23, 32]);
    // Red above, blue below, and nothing transparent.
    expect((first[0] ?? 0) - (first[2] ?? 0)).toBeGreaterThan(100);
    expect((last[2] ?? 0) - (last[0] ?? 0)).toBeGreaterThan(100);
    expect([first[3], last[3]]).toEqual([255, 255]);
    expect(placeholder.aspectRatio).toBeCloseTo(60 / 80, 1);
  });

  it("gives the average colour for CSS, with its transparency", () => {
    const color = placeholderOf(thumbhashOf(40, 40, [220, 120, 40, 255]))?.color ?? "";
    expect(color).toMatch(/^#[0-9a-f]{6}$/);
    expect(near([...Buffer.from(color.slice(1), "hex")], [220, 120, 40])).toBe(true);
    expect(placeholderOf(thumbhashOf(40, 40, [0, 0, 0, 0], [255, 255, 255, 255]))?.color).toMatch(/^#[0-9a-f]{8}$/);
    expect(placeholderOf(thumbhashOf(80, 40, [200, 100, 50, 255]))?.aspectRatio).toBeGreaterThan(1);
  });

  it.each([
    ["a pending render's null", null],
    ["no thumbhash", undefined],
    ["an empty text", ""],
    ["a text that is not base64", "%%%"],
    ["a thumbhash that was cut", thumbhashOf(60, 80, [220, 40, 40, 255]).slice(0, 12)],
    ["bytes without a shape", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
    ["a number", 7 as unknown as string],
    ["a text that is longer than any thumbhash", thumbhashOf(60, 80, [220, 40, 40, 255]).padEnd(1_000, "AAAA")],
  ])("gives undefined for %s", (_, thumbhash) => {
    expect(placeholderOf(thumbhash)).toBeUndefined();
  });

  it("never throws, and each placeholder is a small PNG, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const placeholder = placeholderOf(Buffer.from(bytes).toString("base64"));
        if (placeholder === undefined) return;
        const { width, height } = read(placeholder);
        expect(Math.max(width, height)).toBe(32);
        expect(placeholder.color).toMatch(/^#([0-9a-f]{6}|[0-9a-f]{8})$/);
      }),
    );
  });

  it("accepts every picture's thumbhash", () => {
    const side = fc.integer({ min: 1, max: 100 });
    const colour = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(side, side, colour, colour, (width, height, upper, lower) => {
        // The format has no place for a picture that is longer than 14 times its width.
        fc.pre(Math.max(width, height) < 14 * Math.min(width, height));
        expect(placeholderOf(thumbhashOf(width, height, upper, lower))).toBeDefined();
      }),
      { numRuns: 200 },
    );
  });
});
