import type { Conditional } from "../binary/download.ts";
import type { RequestOptions } from "./request-options.ts";

/** Adds to a request's options what makes it conditional (`If-None-Match`, `If-Modified-Since`). */
export function conditionally(conditional: Conditional | undefined, options: RequestOptions = {}): RequestOptions {
  const headers: Record<string, string> = { ...options.headers };
  if (conditional?.etag !== undefined) headers["if-none-match"] = conditional.etag;
  if (conditional?.lastModified !== undefined) headers["if-modified-since"] = conditional.lastModified;
  return { ...options, headers };
}
