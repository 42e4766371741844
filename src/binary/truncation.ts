import { concatenate } from "./concatenate.ts";
import { isJpeg, isPng, signatureLength } from "./signature.ts";

/** How a PNG ends: its empty last chunk, with that chunk's checksum. */
const pngEnd = [0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82];
/** How a JPEG ends: its end-of-image marker. */
const jpegEnd = [0xff, 0xd9];

/** Whether a body may end too early without the transport noticing. */
type Trust =
  /** It notices: the length is known, or the body says itself where it ends. */
  | "told"
  /** It came compressed, and the platform gives what it could decode of one that was cut off, as if that were all. */
  | "compressed"
  /** Its end is the end of the connection, whatever ended that. */
  | "unsized";

/** Tells from an answer's head whether the transport notices a body that ends too early. */
export function trustOf({ headers, url }: Response): Trust {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding !== "" && coding !== "identity") return "compressed";
  // An answer without a URL was made within this process: no connection could have ended.
  return headers.has("content-length") || headers.has("transfer-encoding") || url === "" ? "told" : "unsized";
}

/** Watches the bytes of a picture go by, and tells at the end whether they end as its format does. */
export class PictureEnd {
  #head: Uint8Array<ArrayBuffer> = new Uint8Array();
  #tail: Uint8Array<ArrayBuffer> = new Uint8Array();

  see(chunk: Uint8Array): void {
    if (this.#head.length < signatureLength) this.#head = joined(this.#head, chunk.subarray(0, signatureLength));
    this.#tail = joined(this.#tail, chunk.subarray(-pngEnd.length)).slice(-pngEnd.length);
  }

  /** Undefined where the format is another one, whose end is not known here. */
  isThere(): boolean | undefined {
    if (isPng(this.#head)) return endsWith(this.#tail, pngEnd);
    return isJpeg(this.#head) ? endsWith(this.#tail, jpegEnd) : undefined;
  }
}

const joined = (before: Uint8Array, after: Uint8Array): Uint8Array<ArrayBuffer> =>
  concatenate([before, after], before.length + after.length);

const endsWith = (bytes: Uint8Array, end: readonly number[]): boolean =>
  bytes.length >= end.length && end.every((byte, index) => bytes[bytes.length - end.length + index] === byte);

/**
 * What is wrong with a body that has come to its end, or undefined. A compressed one counts as whole only when it is seen to be;
 * one whose length is not known counts as cut off only when it is seen to be.
 */
export function shortfall(trust: Trust, end: PictureEnd): string | undefined {
  if (trust === "told") return undefined;
  const there = end.isThere();
  if (there === true || (there === undefined && trust === "unsized")) return undefined;
  const how =
    trust === "compressed" ? "came compressed, although it was asked for as it is" : "came without its length";
  return there === false
    ? `the file, which ${how}, was cut off before its end`
    : `the file ${how}, so that nothing tells whether all of it came`;
}
