import type { Conditional } from "../binary/download.ts";
import type { RequestOptions } from "./request-options.ts";

/** Adds to a request's options what makes it conditional (`If-None-Match`, `If-Modified-Since`). */
export function conditionally(conditional: Conditional | undefined, options: RequestOptions = {}): RequestOptions {
  const headers: Record<string, string> = { ...options.headers };
  if (conditional?.etag !== undefined) headers["if-none-match"] = conditional.etag;
  if (conditional?.lastModified !== undefined) headers["if-modified-since"] = conditional.lastModified;
  return { ...options, headers };
}

/** Whether a request asks for nothing when nothing has changed; its headers' names are in lower case. */
export const isConditional = (headers: Readonly<Record<string, string>>): boolean =>
  "if-none-match" in headers || "if-modified-since" in headers;
