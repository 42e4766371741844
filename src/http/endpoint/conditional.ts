import type { Issue } from "../../errors/validation.ts";
import { splitFields } from "../../util/split-fields.ts";
import { optionFaults } from "./check-options.ts";
import { noOptions, type RequestOptions } from "./request-options.ts";

/** Options of a download that is skipped when the file has not changed since an earlier download. */
export interface ConditionalOptions extends RequestOptions {
  /** The earlier download's `etag`, quotes included. */
  readonly etag?: string | undefined;
  /** The earlier download's `lastModified`. */
  readonly lastModified?: string | undefined;
}

/** Options of a download that always returns the file. */
export interface UnconditionalOptions extends RequestOptions {
  readonly etag?: undefined;
  readonly lastModified?: undefined;
}

/** The options of the request, and the faults of the other options. */
interface ConditionalRequest {
  readonly options: RequestOptions;
  readonly faults: readonly Issue[];
}

/** Writes the options of a conditional download as headers (`If-None-Match`, `If-Modified-Since`). */
export function conditionally(given: ConditionalOptions = noOptions): ConditionalRequest {
  const [known, options] = splitFields(given, "etag", "lastModified");
  const faults = optionFaults(known, "conditional");
  const headers: Record<string, string> = {};
  if (known.etag !== undefined) headers["if-none-match"] = known.etag;
  if (known.lastModified !== undefined) headers["if-modified-since"] = known.lastModified;
  // Invalid headers are passed on unchanged: the check of the options reports them.
  const extensible = typeof (options?.headers ?? headers) === "object";
  if (faults.length > 0 || Object.keys(headers).length === 0 || !extensible) return { options, faults };
  return { options: { ...options, headers: { ...options.headers, ...headers } }, faults };
}

/** Whether a request is conditional. The names of its headers are in lower case. */
export const isConditional = (headers: Readonly<Record<string, string>>): boolean =>
  "if-none-match" in headers || "if-modified-since" in headers;
