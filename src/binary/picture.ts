import { imageDimensionsFromData } from "image-dimensions";
import { concatenate } from "./streams.ts";

const jpegStart = [0xff, 0xd8, 0xff];
const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** The end of a JPEG: the end-of-image marker. */
const jpegEnd = [0xff, 0xd9];
/** The end of a PNG: the empty IEND chunk with its checksum. */
const pngEnd = [0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82];

/** The number of bytes that identify a format. */
export const signatureLength = pngStart.length;

const beginsWith = (bytes: Uint8Array, start: readonly number[]): boolean =>
  start.every((byte, index) => bytes[index] === byte);

const endsWith = (bytes: Uint8Array, end: readonly number[]): boolean =>
  bytes.length >= end.length && beginsWith(bytes.subarray(bytes.length - end.length), end);

/** Whether the bytes start as a JPEG or a PNG, the two formats that the service accepts (specification 2.7). */
export const isImage = (head: Uint8Array): boolean => beginsWith(head, jpegStart) || beginsWith(head, pngStart);

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

const joined = (before: Uint8Array, after: Uint8Array): Uint8Array<ArrayBuffer> =>
  concatenate([before, after], before.length + after.length);

/** Observes the bytes of a picture, and checks at the end whether it is complete. */
export class PictureEnd {
  #head: Uint8Array<ArrayBuffer> = new Uint8Array();
  #tail: Uint8Array<ArrayBuffer> = new Uint8Array();

  see(chunk: Uint8Array): void {
    if (this.#head.length < signatureLength) this.#head = joined(this.#head, chunk.subarray(0, signatureLength));
    this.#tail = joined(this.#tail, chunk.subarray(-pngEnd.length)).slice(-pngEnd.length);
  }

  /** Whether the bytes end as their format requires; undefined for a format other than JPEG and PNG. */
  isThere(): boolean | undefined {
    if (beginsWith(this.#head, pngStart)) return endsWith(this.#tail, pngEnd);
    return beginsWith(this.#head, jpegStart) ? endsWith(this.#tail, jpegEnd) : undefined;
  }
}
