import * as z from "zod/mini";
import { $ZodObjectJIT } from "zod/v4/core";
import { isTimestamp } from "../util/timestamp.ts";

/**
 * A schema is the function that builds it: to build them all when the package loads would take longer than to load it. `check`
 * builds each when it is first needed, and keeps it.
 */
export type Schema<Value = unknown> = () => z.core.$ZodType<Value>;

/**
 * A schema for each field of `T`, no more and no fewer: the interface that users read and the schema that checks it stand side
 * by side, and the compiler refuses one that differs from the other.
 */
type Shape<T> = { readonly [Field in keyof T]-?: z.core.$ZodType<T[Field]> };

/**
 * A response object: unknown fields pass, since new ones may appear at any time (specification 9.4). They are kept because the
 * answer is returned as it came (decision 0002): of zod's copy, which is without them, nothing is used.
 *
 * It is the object of zod's core because that of zod/mini takes twice as long, and answers are long.
 */
export function open<T>(shape: Shape<T>): z.core.$ZodType<T>;
export function open(shape: z.core.$ZodLooseShape): z.core.$ZodType {
  return new $ZodObjectJIT({ type: "object", shape });
}

/** A request object: unknown fields are faults, since the service rejects them (specification 4). */
export function strict<T>(shape: Shape<T>): z.ZodMiniType<T>;
export function strict(shape: z.core.$ZodLooseShape): z.ZodMiniType {
  return z.strictObject(shape);
}

/** An object of which the specification shows nothing. */
export type OpenRecord = Readonly<Record<string, unknown>>;
export const openRecord: Schema<OpenRecord> = () => z.record(z.string(), z.unknown());

/**
 * A text with something in it, that means the same in a URL as in a body: half of a character is written as `\ud800` in JSON, yet
 * has no form of its own in a URL, and what was made by it could not be looked up by it.
 */
export const filledText = () =>
  z.string().check(
    z.minLength(1),
    z.refine((text) => text.isWellFormed(), { error: "must not contain half of a character (a lone surrogate)" }),
  );

/** An ISO 8601 timestamp, as it came: in the extended or the basic format, in any precision that names a day. */
export const timestamp = () => z.string().check(z.refine(isTimestamp, { error: "expected an ISO 8601 timestamp" }));

/** A timestamp that is sent: a real date and time, with its offset. */
export const timestampInput = () =>
  z.iso.datetime({
    offset: true,
    error: 'expected an ISO 8601 timestamp with its offset, for example "2026-11-01T00:00:00Z"',
  });

/** Known values of an enum that may grow: they complete in an editor, others pass. */
export type OpenEnum<Known extends string> = Known | (string & Record<never, never>);
export const openEnum = <Known extends string>(): z.core.$ZodType<OpenEnum<Known>> => z.string();

/** A whole number from `minimum` up. */
export const count = (minimum: number) => z.int().check(z.gte(minimum));
