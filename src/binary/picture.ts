import { imageDimensionsFromData } from "image-dimensions";
import { thumbHashToApproximateAspectRatio, thumbHashToAverageRGBA, thumbHashToDataURL } from "thumbhash";
import { attempt } from "../util/foreign.ts";

const jpegStart = [0xff, 0xd8, 0xff];
const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The number of bytes that identify a format. */
export const signatureLength = pngStart.length;

const beginsWith = (bytes: Uint8Array, start: readonly number[]): boolean =>
  start.every((byte, index) => bytes[index] === byte);

type PictureFormat = "jpeg" | "png";

/** The format of a picture by its first bytes; undefined for any other. */
export function formatOf(head: Uint8Array): PictureFormat | undefined {
  if (beginsWith(head, jpegStart)) return "jpeg";
  return beginsWith(head, pngStart) ? "png" : undefined;
}

/** Whether the bytes start as a JPEG or a PNG, the two formats that the service accepts (specification 2.7). */
export const isImage = (head: Uint8Array): boolean => formatOf(head) !== undefined;

/** The size of a picture in pixels, as its header states it. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The bytes in which the size is searched: a JPEG can have much metadata before it. */
export const mostHeaderBytes = 1_048_576;

/** The size of a PNG or a JPEG by its first bytes; undefined if they do not show it. */
export function sizeIn(head: Uint8Array): PictureSize | undefined {
  try {
    const found = imageDimensionsFromData(head.subarray(0, mostHeaderBytes));
    return found?.type === "png" || found?.type === "jpeg" ? { width: found.width, height: found.height } : undefined;
  } catch {
    return undefined;
  }
}

/** A picture to show until a render's image has loaded. */
export interface Placeholder {
  /** A blurred version of the image, at most 32 pixels wide and high: a PNG as a `data:` URL. */
  readonly dataUrl: string;
  /** The average colour, for CSS: `#rrggbb`, or `#rrggbbaa` if the image has transparent parts. */
  readonly color: string;
  /** The approximate width divided by the height. */
  readonly aspectRatio: number;
}

/** The longest text, with white space: a ThumbHash has at most 29 bytes. A longer one would block the process while it is decoded. */
const longest = 128;

/** Decodes base64. `atob` is the same on all runtimes. */
const decoded = (text: string): Uint8Array | undefined =>
  attempt(() => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));

/** The number of waves of a channel. */
function waves(across: number, down: number): number {
  let count = -1;
  for (let row = 0; row < down; row += 1) count += Math.ceil((across * (down - row)) / down);
  return count;
}

/** Whether the bytes are a whole ThumbHash. The package would make a picture of any bytes, or never end. */
function isWhole(hash: Uint8Array): boolean {
  const [, , flags = 0, shape = 0, landscape = 0] = hash;
  const [alpha, shorter] = [flags > 127, shape & 7];
  if (hash.length < 5 || shorter === 0) return false;
  const longer = alpha ? 5 : 7;
  const sides = [longer, Math.max(3, shorter)] as const;
  const brightness = landscape > 127 ? waves(...sides) : waves(sides[1], sides[0]);
  const count = brightness + 2 * waves(3, 3) + (alpha ? waves(5, 5) : 0);
  return hash.length >= (alpha ? 6 : 5) + Math.ceil(count / 2);
}

const hex = (part: number): string =>
  Math.round(part * 255)
    .toString(16)
    .padStart(2, "0");

/**
 * Makes a placeholder of a render's `thumbhash` (specification 2.9), to show it at once.
 *
 * @param thumbhash The text in base64. A render that is not completed has none.
 * @returns Undefined for `null`, for `undefined`, and for a text that is not a ThumbHash.
 * @example
 * const { thumbhash } = await partner.renders.wait(renderReference);
 * const placeholder = placeholderOf(thumbhash);
 * const style = placeholder && `background: ${placeholder.color} center / cover url(${placeholder.dataUrl})`;
 */
export function placeholderOf(thumbhash: string | null | undefined): Placeholder | undefined {
  const hash = typeof thumbhash === "string" && thumbhash.length <= longest ? decoded(thumbhash) : undefined;
  if (hash === undefined || !isWhole(hash)) return undefined;
  const { r, g, b, a } = thumbHashToAverageRGBA(hash);
  return {
    dataUrl: thumbHashToDataURL(hash),
    color: `#${[r, g, b, ...(a < 1 ? [a] : [])].map(hex).join("")}`,
    aspectRatio: thumbHashToApproximateAspectRatio(hash),
  };
}
