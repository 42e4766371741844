import type { HeaderFields, ResponseHead } from "../util/response-head.ts";
import type { PictureEnd } from "./picture.ts";

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
