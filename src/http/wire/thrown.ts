import { UnexpectedError } from "../../errors/unexpected.ts";
import { attempt, isError, propertyOf, textOf, wordsOf } from "../../util/foreign.ts";
import type { Redact } from "./redact.ts";

/** The fields of an error that are copied. Other fields, which a caller's own `fetch` may add, could show the request. */
const copied = ["code", "errno", "syscall", "hostname", "address", "port"];

/** The maximum number of nested causes that are copied. */
const deepest = 5;

/** Wraps an error from before the call of `fetch`: no request was sent. */
export class NeverSent {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** A copy of a thrown value. Reading the copy cannot throw. */
export interface Thrown {
  /** Whether it has a message. `instanceof` does not recognise an error of another realm. */
  readonly isError: boolean;
  readonly name: string;
  /** Empty if an error has no message. */
  readonly message: string;
  readonly stack: string | undefined;
  readonly details: ReadonlyMap<string, string>;
  /** Whether it is an aggregate; the first of its errors is its cause. */
  readonly several: boolean;
  readonly cause: Thrown | undefined;
}

const detailOf = (thrown: unknown, name: string): readonly [string, string][] => {
  const value = propertyOf(thrown, name);
  return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
};

/** Copies a thrown value. */
export function readThrown(thrown: unknown, depth = 0): Thrown {
  const message = textOf(thrown, "message");
  const isOne = isError(thrown) || message !== undefined;
  const errors = isOne ? propertyOf(thrown, "errors") : undefined;
  const first = attempt(() => (Array.isArray(errors) ? (errors[0] as unknown) : undefined));
  const cause = isOne ? (first ?? propertyOf(thrown, "cause")) : undefined;
  return {
    isError: isOne,
    name: (isOne ? textOf(thrown, "name") : undefined) ?? "Error",
    message: message ?? wordsOf(thrown),
    stack: isOne ? textOf(thrown, "stack") : undefined,
    details: new Map(isOne ? copied.flatMap((name) => detailOf(thrown, name)) : []),
    several: first !== undefined,
    cause: cause === undefined || depth === deepest ? undefined : readThrown(cause, depth + 1),
  };
}

/** Makes an error that has only the texts of the thrown value, without the key. */
export function harmless({ name, message, stack, details, cause }: Thrown, redact: Redact): Error {
  const error = new Error(redact(message));
  const fields = new Map([...details, ["name", name], ["stack", stack ?? `${name}: ${message}`]]);
  // An assignment throws if `Error.prototype` is frozen.
  const define = (field: string, value: unknown) =>
    Object.defineProperty(error, field, { value, writable: true, configurable: true, enumerable: details.has(field) });
  for (const [field, text] of fields) define(field, redact(text));
  if (cause !== undefined) define("cause", harmless(cause, redact));
  return error;
}

/** Wraps an error from code that should not throw. */
export function unexpected(error: unknown, redact: Redact): UnexpectedError {
  const thrown = readThrown(error);
  return new UnexpectedError({ reason: redact(thrown.message || thrown.name), cause: harmless(thrown, redact) });
}
