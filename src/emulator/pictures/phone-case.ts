import { createHash } from "node:crypto";
import { type Colour, encodePng } from "./png.ts";

/** The colours and the pattern of a print. A render derives them from its image. */
interface Print {
  readonly background: Colour;
  readonly shades: readonly [Colour, Colour, Colour];
  /** The width of a stripe as a fraction of the picture's width. */
  readonly stripe: number;
  /** The slope of the stripes. */
  readonly slope: number;
}

const rim: Colour = 0x1f2328;
const camera: Colour = 0x0d0f12;
const lens: Colour = 0x4a5568;

const colourOf = (bytes: Uint8Array, at: number): Colour =>
  ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);

/** The colour mixed with as much white. */
const pale = (colour: Colour): Colour => ((colour >> 1) & 0x7f7f7f) + 0x808080;

function printOf(name: string): Print {
  const bytes = createHash("sha256").update(name).digest();
  return {
    background: pale(pale(colourOf(bytes, 0))),
    shades: [colourOf(bytes, 3), colourOf(bytes, 6), colourOf(bytes, 9)],
    stripe: 0.05 + (bytes[12] ?? 0) / 2048,
    slope: ((bytes[13] ?? 0) - 128) / 128,
  };
}

/** The main colour of the picture of a name. The thumbhash shows it. */
export const mainColour = (name: string): Colour => printOf(name).shades[0];

/** The distance from a point inside a rounded rectangle to its edge, in pixels. It is negative outside. */
function depth(x: number, y: number, left: number, top: number, right: number, bottom: number, radius: number): number {
  const dx = Math.max(left + radius - x, x - right + radius, 0);
  const dy = Math.max(top + radius - y, y - bottom + radius, 0);
  if (dx > 0 && dy > 0) return radius - Math.hypot(dx, dy);
  return Math.min(x - left, right - x, y - top, bottom - y);
}

/**
 * Draws the back of a phone case as PNG. The print's colours derive from `name`, so the same name gives the same bytes.
 *
 * Emulated renders, product pictures and sample images use it.
 */
export function drawPhoneCase(name: string, width: number, height: number): Uint8Array<ArrayBuffer> {
  const print = printOf(name);
  const caseHeight = Math.min(height * 0.86, width * 1.6);
  const caseWidth = caseHeight / 2;
  const left = (width - caseWidth) / 2;
  const top = (height - caseHeight) / 2;
  const unit = caseWidth / 10;

  return encodePng(width, height, (x, y) => {
    const inside = depth(x, y, left, top, left + caseWidth, top + caseHeight, unit * 1.5);
    if (inside < 0) return print.background;
    if (inside < unit * 0.3) return rim;
    const bump = depth(x, y, left + unit, top + unit, left + unit * 5, top + unit * 5, unit);
    if (bump >= 0) {
      const eyes = [
        Math.hypot(x - left - unit * 2.2, y - top - unit * 2.2),
        Math.hypot(x - left - unit * 3.8, y - top - unit * 3.8),
      ];
      return Math.min(...eyes) < unit * 0.8 ? lens : camera;
    }
    const band = Math.floor((x + y * print.slope) / (print.stripe * width));
    return print.shades[((band % 3) + 3) % 3] ?? print.shades[0];
  });
}
