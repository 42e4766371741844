import * as z from "zod";

/**
 * A schema for each field of `T`, no more and no fewer: the interface that users read and the schema that checks it stand side
 * by side, and the compiler refuses one that differs from the other.
 */
type Shape<T> = { readonly [Field in keyof T]-?: z.ZodType<T[Field]> };

/** A response object: unknown fields are kept, since new ones may appear at any time (specification 9.4). */
export const open = <T>(shape: Shape<T>): z.ZodType<T> => z.looseObject(shape) as unknown as z.ZodType<T>;

/** A request object: unknown fields are faults, since the service rejects them (specification 4). */
export const strict = <T>(shape: Shape<T>): z.ZodType<T> => z.strictObject(shape) as unknown as z.ZodType<T>;

/** An object of which the specification shows nothing. */
export type OpenRecord = Readonly<Record<string, unknown>>;
export const openRecord = z.record(z.string(), z.unknown()) as z.ZodType<OpenRecord>;

/** An ISO 8601 timestamp, as it came. */
export const timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/, { error: "expected an ISO 8601 timestamp" });

/** A timestamp that is sent: a real date and time, with its offset. */
export const timestampInput = z.iso.datetime({
  offset: true,
  error: 'expected an ISO 8601 timestamp with its offset, for example "2026-11-01T00:00:00Z"',
});

/** Known values of an enum that may grow: they complete in an editor, others pass. */
export type OpenEnum<Known extends string> = Known | (string & Record<never, never>);
export const openEnum = <Known extends string>(): z.ZodType<OpenEnum<Known>> => z.string();

/** A whole number from `minimum` up. */
export const count = (minimum: number) => z.int().min(minimum);
