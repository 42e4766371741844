import * as z from "zod/mini";
import type { Fault } from "./fault.ts";

const isHeader = (name: string, value: string): boolean => {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
};

const headerValue = () => z.string().check(z.refine((value) => isHeader("x", value), "is not a valid header value"));

const headers = () =>
  z
    .record(z.string(), z.string())
    .check(
      z.refine((all) => Object.entries(all).every(([name, value]) => isHeader(name, value)), "has an invalid header"),
    );

const ms = () => z.number().check(z.gte(0));
const when = () => z.optional(z.enum(["before", "after"]));
const status = (least: number, most: number) => z.int().check(z.gte(least), z.lte(most));

const target = () => ({
  on: z.optional(z.string()),
  nth: z.optional(z.int("expected a whole number, or in a program a function").check(z.gte(1))),
});

/** The fields of each kind. */
const kinds = {
  drop: () => ({ when: when() }),
  status: () => ({
    when: when(),
    status: status(400, 599),
    code: z.optional(z.string()),
    retryAfter: z.optional(z.union([z.number(), headerValue()])),
  }),
  redirect: () => ({
    when: when(),
    location: headerValue(),
    status: z.optional(z.literal([301, 302, 303, 307, 308])),
  }),
  body: () => ({
    when: when(),
    body: z.custom<unknown>((value) => value !== undefined, "is required"),
    status: z.optional(status(200, 599)),
    type: z.optional(headerValue()),
  }),
  headers: () => ({ headers: headers() }),
  slow: () => ({ when: when(), ms: ms() }),
  gateway: () => ({
    ms: ms(),
    processing: ms(),
    status: z.optional(z.union([status(400, 599), z.literal("drop")])),
  }),
  stall: () => ({}),
  trickle: () => ({ ms: ms() }),
  truncate: () => ({}),
} as const satisfies Readonly<Record<Fault["fault"], () => z.core.$ZodShape>>;

/** The kinds of faults. */
export const faultKinds = Object.keys(kinds) as readonly Fault["fault"][];

/** Checks the fields of a fault by its kind; of `nth` only the number. The cast is for a list that the compiler does not know to have an entry. */
export const faultSchema = () =>
  z.discriminatedUnion(
    "fault",
    faultKinds.map((kind) =>
      z.strictObject({ fault: z.literal(kind), ...target(), ...kinds[kind]() }),
    ) as unknown as readonly [z.ZodMiniObject<{ fault: z.ZodMiniLiteral<string> }>],
  );
