import type { Issue } from "../../errors/validation.ts";
import { attempt } from "../../util/foreign.ts";
import { splitFields } from "../../util/split-fields.ts";
import { optionFaults } from "./check-options.ts";
import { headerEntries } from "./headers.ts";
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
  const added: (readonly [string, string])[] = [];
  if (known.etag !== undefined) added.push(["if-none-match", known.etag]);
  if (known.lastModified !== undefined) added.push(["if-modified-since", known.lastModified]);
  if (faults.length > 0 || added.length === 0) return { options, faults };
  // Invalid headers are passed on unchanged: the check of the options reports them.
  const headers = attempt(() => Object.fromEntries([...headerEntries(options.headers ?? {}), ...added]));
  return { options: headers === undefined ? options : { ...options, headers }, faults };
}

/** Whether a request is conditional. The names of its headers are in lower case. */
export const isConditional = (headers: Readonly<Record<string, string>>): boolean =>
  "if-none-match" in headers || "if-modified-since" in headers;
