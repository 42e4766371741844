import type { HeaderFields, ResponseHead } from "../util/response-head.ts";
import { formatOf, signatureLength } from "./picture.ts";
import { concatenate } from "./streams.ts";

/*
 * Checks whether a response is a file, and whether the file is complete.
 */

const typeOf = (headers: HeaderFields): string =>
  headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";

/**
 * Content types of text, JSON and XML: these come from a proxy or report an error, because the service's files are images (specification
 * 2.9). A general type, such as `application/octet-stream`, is accepted, and so is an image in XML (SVG).
 */
const notAFile = /^text\/|^(?!image\/).*[/+](json|xml)$/;

/** The fault of a file without bytes. */
export const emptyFile = "the file is empty";

/** Returns why a response is not a complete file; undefined if it is one. */
export function fileFault({ status, headers }: Pick<ResponseHead, "status" | "headers">): string | undefined {
  const type = typeOf(headers);
  if (status === 304) return "unexpected status 304 (not modified): the request was not conditional";
  if (notAFile.test(type)) return `expected a file, got ${type}`;
  if (status === 206) return "expected the whole file, got a part of it (206)";
  if (status === 204 || status === 205 || headers.get("content-length") === "0") return emptyFile;
  return undefined;
}

/** Why the transport cannot detect the early end of a body; undefined if it can. */
type Undetected =
  /** The platform may return a truncated body as if it were complete. */
  | "compressed"
  /** The body ends when the connection ends, for any reason. */
  | "without a length"
  | undefined;

function undetectedOf({ headers, url }: ResponseHead): Undetected {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding !== "" && coding !== "identity") return "compressed";
  // A response without a URL was created in this process: it has no connection that can break.
  const ends = headers.has("content-length") || headers.has("transfer-encoding") || url === "";
  return ends ? undefined : "without a length";
}

/** Looks for the end of a picture in chunks of any size. Other bytes can follow the end: phones append a video. */
interface PictureEnd {
  readonly isReached: boolean;
  see(bytes: Uint8Array): void;
}

/** Follows the markers of a JPEG to its end-of-image marker. A thumbnail, which also has one, is inside a segment and skipped. */
class JpegEnd implements PictureEnd {
  isReached = false;
  /** The received bytes of a marker: its two bytes, and the two bytes of the length if a segment follows. */
  #marker: number[] = [];
  /** Remaining bytes of the segment. */
  #skipped = 0;

  see(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.isReached; at += 1) {
      if (this.#skipped > 0) {
        const skipped = Math.min(this.#skipped, bytes.length - at);
        this.#skipped -= skipped;
        at += skipped - 1;
      } else if (this.#marker.length > 0) {
        this.#read(bytes[at] ?? 0);
      } else {
        at = bytes.indexOf(0xff, at);
        if (at === -1) return;
        this.#marker = [0xff];
      }
    }
  }

  #read(byte: number): void {
    const [, code, high] = this.#marker;
    if (high !== undefined) {
      this.#skipped = Math.max(high * 256 + byte - 2, 0);
      this.#marker = [];
    } else if (code !== undefined) {
      this.#marker.push(byte);
    } else if (byte === 0xd9) {
      this.isReached = true;
    } else if (byte >= 0xc0 && (byte < 0xd0 || byte > 0xd8) && byte !== 0xff) {
      this.#marker.push(byte);
    } else if (byte !== 0xff) {
      // Data, a restart marker or the start of the image: no segment follows. A marker can have more than one 0xff.
      this.#marker = [];
    }
  }
}

/** The empty IEND chunk of a PNG with its checksum. */
const iend = [0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82];

class PngEnd implements PictureEnd {
  isReached = false;
  #tail: Uint8Array = new Uint8Array();

  see(bytes: Uint8Array): void {
    const all = concatenate([this.#tail, bytes]);
    for (let at = all.indexOf(0x82); at !== -1 && !this.isReached; at = all.indexOf(0x82, at + 1))
      this.isReached = iend.every((byte, index) => all[at + 1 - iend.length + index] === byte);
    this.#tail = all.slice(1 - iend.length);
  }
}

/** Observes the bytes of a file as they arrive, and checks at the end whether the file is complete. */
export class FileCheck {
  readonly #undetected: Undetected;
  #isEmpty = true;
  /** The first bytes until they show the format, or that it is unknown. */
  #head: Uint8Array | undefined = new Uint8Array();
  #end: PictureEnd | undefined;

  constructor(response: ResponseHead) {
    this.#undetected = undetectedOf(response);
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  see(chunk: Uint8Array): void {
    this.#isEmpty &&= chunk.byteLength === 0;
    if (this.#undetected === undefined || this.#end?.isReached) return;
    if (this.#head === undefined) {
      this.#end?.see(chunk);
      return;
    }
    const head = concatenate([this.#head, chunk]);
    const format = formatOf(head);
    this.#head = format === undefined && head.length < signatureLength ? head : undefined;
    if (format === undefined) return;
    this.#end = format === "jpeg" ? new JpegEnd() : new PngEnd();
    this.#end.see(head);
  }

  /**
   * Returns why the file may be incomplete; undefined if it is accepted. A compressed file is accepted only if the end of its picture was found.
   * A file without a length is accepted unless it is a picture without an end.
   */
  shortfall(): string | undefined {
    if (this.#undetected === undefined || this.#end?.isReached) return undefined;
    if (this.#undetected === "compressed") {
      const how = "arrived compressed, although the request refused compression";
      return this.#end === undefined
        ? `the file ${how}, so the SDK cannot check that it is complete`
        : `the file, which ${how}, was truncated`;
    }
    return this.#end === undefined ? undefined : "the file, which arrived without a length, was truncated";
  }
}
