import type { Colour } from "./png.ts";

/** The number of luminance waves in a ThumbHash of a given shape. */
function waves(across: number, down: number): number {
  let count = 0;
  for (let cy = 0; cy < down; cy += 1) {
    for (let cx = cy === 0 ? 1 : 0; cx * down < across * (down - cy); cx += 1) count += 1;
  }
  return count;
}

/** The waves of the two colour channels together: five each. */
const colourWaves = 10;

/** The base64 ThumbHash of a picture of one colour. It is the placeholder of a picture with that main colour. */
export function thumbhashOf(colour: Colour, width: number, height: number): string {
  const [red, green, blue] = [16, 8, 0].map((shift) => ((colour >> shift) & 0xff) / 255) as [number, number, number];
  const luminance = Math.round(((red + green + blue) / 3) * 63);
  const yellowness = Math.round(31.5 + 31.5 * ((red + green) / 2 - blue));
  const redness = Math.round(31.5 + 31.5 * (red - green));

  const landscape = width > height;
  const shorter = Math.max(1, Math.round((7 * Math.min(width, height)) / Math.max(width, height)));
  const header = luminance | (yellowness << 6) | (redness << 12);
  const shape = shorter | (landscape ? 1 << 15 : 0);

  const [across, down] = landscape ? [7, Math.max(3, shorter)] : [Math.max(3, shorter), 7];
  // The scales in the header are 0, so every wave has the amplitude 0.
  const body = Buffer.alloc(Math.ceil((waves(across, down) + colourWaves) / 2), 0x77);
  const head = [header & 0xff, (header >> 8) & 0xff, header >> 16, shape & 0xff, shape >> 8];
  return Buffer.concat([Buffer.from(head), body]).toString("base64");
}
