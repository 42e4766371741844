import type { ResponseHead } from "../util/response-head.ts";
import { concatenate } from "./concatenate.ts";
import { isJpeg, isPng, signatureLength } from "./signature.ts";

/** The end of a PNG: the empty IEND chunk with its checksum. */
const pngEnd = [0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82];
/** The end of a JPEG: the end-of-image marker. */
const jpegEnd = [0xff, 0xd9];

/** Whether the transport detects a body that ends too early. */
type Trust =
  /** It does: the response has a length, or the body is chunked. */
  | "detected"
  /** It does not: the body is compressed, and the platform can return the decoded part of a truncated body as if it were complete. */
  | "compressed"
  /** It does not: the body ends when the connection ends, for any reason. */
  | "unsized";

/** Finds out from the response headers whether the transport detects a body that ends too early. */
export function trustOf({ headers, url }: Pick<ResponseHead, "headers" | "url">): Trust {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding !== "" && coding !== "identity") return "compressed";
  // A response without a URL was created in this process, without a connection.
  return headers.has("content-length") || headers.has("transfer-encoding") || url === "" ? "detected" : "unsized";
}

/** Observes the bytes of an image, and checks at the end whether the image is complete. */
export class PictureEnd {
  #head: Uint8Array<ArrayBuffer> = new Uint8Array();
  #tail: Uint8Array<ArrayBuffer> = new Uint8Array();

  see(chunk: Uint8Array): void {
    if (this.#head.length < signatureLength) this.#head = joined(this.#head, chunk.subarray(0, signatureLength));
    this.#tail = joined(this.#tail, chunk.subarray(-pngEnd.length)).slice(-pngEnd.length);
  }

  /** Whether the bytes end as their format requires; undefined for a format other than JPEG and PNG. */
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
 * Says why a finished body may be incomplete; undefined if it is accepted. A compressed body is accepted only if the end of the image
 * is found. A body of unknown length is refused only if the end of the image is missing.
 */
export function shortfall(trust: Trust, end: PictureEnd): string | undefined {
  if (trust === "detected") return undefined;
  const there = end.isThere();
  if (there === true || (there === undefined && trust === "unsized")) return undefined;
  const how =
    trust === "compressed"
      ? "arrived compressed, although the request refused compression"
      : "arrived without a length";
  return there === false
    ? `the file, which ${how}, was truncated`
    : `the file ${how}, so the SDK cannot check that it is complete`;
}
