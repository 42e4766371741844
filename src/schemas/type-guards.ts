import * as z from "zod/mini";
import type { PartnerClock } from "../util/clock.ts";

export const isFunction = (value: unknown): boolean => typeof value === "function";

export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whether a value is an object but not an array. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !Array.isArray(value);

/** Whether a value is a plain object, of any realm, and not an instance of a class such as `Date`, `Map` or `FormData`. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Reads a property of an object or function of the caller; it may be an instance of a class. */
export const functionOf = (value: unknown, name: string): unknown =>
  isObject(value) || isFunction(value) ? Reflect.get(Object(value), name) : undefined;

/** The schema of a {@link PartnerClock}. */
export const clock = () =>
  z.custom<PartnerClock>((value) => isFunction(functionOf(value, "now")) && isFunction(functionOf(value, "after")), {
    error: "expected a clock with the functions `now` and `after`",
  });
