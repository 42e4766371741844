import { imageDimensionsFromData } from "image-dimensions";

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

/** The bytes in which the size is searched. A JPEG can have much metadata before it. */
export const maxHeaderBytes = 1_048_576;

/** The size of a PNG or a JPEG by its first bytes; undefined if they do not show it. */
export function sizeIn(head: Uint8Array): PictureSize | undefined {
  try {
    const found = imageDimensionsFromData(head.subarray(0, maxHeaderBytes));
    return found?.type === "png" || found?.type === "jpeg" ? { width: found.width, height: found.height } : undefined;
  } catch {
    return undefined;
  }
}
