import * as z from "zod/mini";
import type { PartnerClock } from "../util/clock.ts";

export const isFunction = (value: unknown): boolean => typeof value === "function";

export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** An object with fields, and no list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !Array.isArray(value);

/** An object that is nothing but its fields, of whatever realm: no date, map, form or other instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What stands under a name in an object that is the caller's own: it may be an instance of a class. */
export const functionOf = (value: unknown, name: string): unknown =>
  isObject(value) || isFunction(value) ? Reflect.get(Object(value), name) : undefined;

/** A source of time. */
export const clock = () =>
  z.custom<PartnerClock>((value) => isFunction(functionOf(value, "now")) && isFunction(functionOf(value, "after")), {
    error: "expected a clock, with functions `now` and `after`",
  });
