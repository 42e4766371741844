import type { Conditional } from "../binary/download.ts";
import { noOptions, type RequestOptions } from "./request-options.ts";

/** Adds to a request's options what makes it conditional (`If-None-Match`, `If-Modified-Since`). */
export function conditionally(
  conditional: Conditional | undefined,
  options: RequestOptions = noOptions,
): RequestOptions {
  const { etag, lastModified } = conditional ?? {};
  const headers: Record<string, string> = {};
  if (etag !== undefined) headers["if-none-match"] = etag;
  if (lastModified !== undefined) headers["if-modified-since"] = lastModified;
  // Options and headers that are none go on as they came: their check tells of them.
  if (Object.keys(headers).length === 0 || typeof options !== "object" || options === null) return options;
  return typeof (options.headers ?? headers) === "object"
    ? { ...options, headers: { ...options.headers, ...headers } }
    : options;
}

/** Whether a request asks for nothing when nothing has changed; its headers' names are in lower case. */
export const isConditional = (headers: Readonly<Record<string, string>>): boolean =>
  "if-none-match" in headers || "if-modified-since" in headers;
