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

/** The bytes in which the size is searched. A JPEG can have much metadata before it. */
export const maxHeaderBytes = 1_048_576;

/** The size of a PNG is in its first chunk, which has a fixed length (RFC 2083, 4.1.1). */
function sizeOfPng(view: DataView): PictureSize | undefined {
  const isHeader = view.getUint32(12) === 0x49484452;
  return isHeader ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined;
}

const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** The size of a JPEG is in its frame header, after segments of any content and before the first scan (ITU T.81, B.1.1). */
function sizeOfJpeg(view: DataView): PictureSize | undefined {
  for (let at = 2; ; ) {
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff || marker === 0xff) at += 1;
    else if (marker === 0xda) return undefined;
    else if (isFrameHeader(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    else at += marker === 0x01 ? 2 : 2 + view.getUint16(at + 2);
  }
}

/** The size of a PNG or a JPEG by its first bytes; undefined if they do not show it. */
export function sizeIn(head: Uint8Array): PictureSize | undefined {
  const view = new DataView(head.buffer, head.byteOffset, Math.min(head.byteLength, maxHeaderBytes));
  const format = formatOf(head);
  // Reading behind the last byte throws.
  return attempt(() => (format === "png" ? sizeOfPng(view) : format === "jpeg" ? sizeOfJpeg(view) : undefined));
}
