import * as z from "zod/mini";
import {
  custom,
  headerEntries,
  isValidHeader,
  noOptions,
  optionFaults,
  type RequestOptions,
} from "../../http/request-options.ts";
import type { Schema } from "../../schemas/shape.ts";
import { splitFields } from "../../util/fields.ts";
import { attempt } from "../../util/foreign.ts";

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

/** A value of an earlier download that a header can carry. */
const validator = (header: string, what: string) =>
  custom((value) => value !== "" && isValidHeader(header, value), `expected the \`${what}\` of an earlier download`);

const conditions: Schema = () =>
  z.strictObject({
    etag: validator("if-none-match", "etag"),
    lastModified: validator("if-modified-since", "lastModified"),
  });

/**
 * Writes the options of a conditional download as headers (`If-None-Match`, `If-Modified-Since`). Returns the options of the request, and the
 * faults of the other options.
 */
export function conditionally(given: ConditionalOptions = noOptions) {
  const [known, options] = splitFields(given, "etag", "lastModified");
  const faults = optionFaults(known, conditions);
  const added: (readonly [string, string])[] = [];
  if (known.etag !== undefined) added.push(["if-none-match", known.etag]);
  if (known.lastModified !== undefined) added.push(["if-modified-since", known.lastModified]);
  if (faults.length > 0 || added.length === 0) return { options, faults };
  // Invalid headers are passed on unchanged: the check of the options reports them.
  const headers = attempt(() => Object.fromEntries([...headerEntries(options.headers ?? {}), ...added]));
  return { options: headers === undefined ? options : Object.assign(options, { headers }), faults };
}
