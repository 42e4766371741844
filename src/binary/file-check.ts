import type { HeaderFields, ResponseHead } from "../util/response-head.ts";
import { formatOf, type PictureFormat, signatureLength } from "./picture.ts";
import { concatenate } from "./streams.ts";

/*
 * Whether a response is a file, and whether the file has arrived in full.
 */

const typeOf = (headers: HeaderFields): string =>
  headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";

/**
 * Content types that are not files of the service: its files are images (specification 2.9). Text, JSON and XML come from a proxy or
 * report an error. A general type, such as `application/octet-stream`, is accepted, and so is an image in XML (SVG).
 */
const noFile = /^text\/|^(?!image\/).*[/+](json|xml)$/;

/** The fault of a file without bytes. */
export const emptyFile = "the file is empty";

/** Says why a response is not a complete file; undefined if it is one. */
export function fileFault({ status, headers }: Pick<ResponseHead, "status" | "headers">): string | undefined {
  const type = typeOf(headers);
  if (status === 304) return "unexpected status 304 (not modified): the request was not conditional";
  if (noFile.test(type)) return `expected a file, got ${type}`;
  if (status === 206) return "expected the whole file, got a part of it (206)";
  if (status === 204 || status === 205 || headers.get("content-length") === "0") return emptyFile;
  return undefined;
}

/** How a body arrives whose early end the transport does not detect; undefined if it does. */
type Undetected =
  /** The platform can return the decoded part of a truncated body as if it were complete. */
  | "compressed"
  /** The body ends when the connection ends, for any reason. */
  | "without a length"
  | undefined;

function undetectedOf({ headers, url }: ResponseHead): Undetected {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding !== "" && coding !== "identity") return "compressed";
  // A response without a URL was created in this process, without a connection.
  const ends = headers.has("content-length") || headers.has("transfer-encoding") || url === "";
  return ends ? undefined : "without a length";
}

/** The last bytes of a picture: the end-of-image marker of a JPEG, the empty IEND chunk of a PNG with its checksum. */
const ends: Readonly<Record<PictureFormat, readonly number[]>> = {
  jpeg: [0xff, 0xd9],
  png: [0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82],
};
const longestEnd = ends.png.length;

const joined = (before: Uint8Array, after: Uint8Array): Uint8Array =>
  concatenate([before, after], before.length + after.length);

/** Observes the bytes of a file as they arrive, and says at the end whether they are the whole file. */
export class FileCheck {
  readonly #undetected: Undetected;
  #isEmpty = true;
  #head: Uint8Array = new Uint8Array();
  #tail: Uint8Array = new Uint8Array();

  constructor(response: ResponseHead) {
    this.#undetected = undetectedOf(response);
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  see(chunk: Uint8Array): void {
    this.#isEmpty &&= chunk.byteLength === 0;
    if (this.#undetected === undefined) return;
    if (this.#head.length < signatureLength) this.#head = joined(this.#head, chunk.subarray(0, signatureLength));
    this.#tail = joined(this.#tail, chunk.subarray(-longestEnd)).slice(-longestEnd);
  }

  /**
   * Says why the file may be incomplete; undefined if it is accepted. A compressed one is accepted only if the end of the picture was found,
   * one without a length unless the end is missing.
   */
  shortfall(): string | undefined {
    if (this.#undetected === undefined) return undefined;
    const format = formatOf(this.#head);
    if (format !== undefined && ends[format].every((byte, index, end) => this.#tail.at(index - end.length) === byte))
      return undefined;
    if (this.#undetected === "compressed") {
      const how = "arrived compressed, although the request refused compression";
      return format === undefined
        ? `the file ${how}, so the SDK cannot check that it is complete`
        : `the file, which ${how}, was truncated`;
    }
    return format === undefined ? undefined : "the file, which arrived without a length, was truncated";
  }
}
