import type { HeaderFields, ResponseHead } from "../util/response-head.ts";

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
