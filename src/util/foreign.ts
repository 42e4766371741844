/*
 * Reading what a partner's code made or threw. A getter may throw, a name may be a number, and of a revoked proxy even `instanceof`
 * throws: nothing here does.
 */

/** What `read` gives; undefined where it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

/** A property of anything; undefined where there is none, or where it cannot be read. */
export const propertyOf = (value: unknown, name: PropertyKey): unknown =>
  isObject(value) ? attempt(() => Reflect.get(value, name)) : undefined;

/** A property that is a text; undefined where it is something else. */
export function textOf(value: unknown, name: PropertyKey): string | undefined {
  const text = propertyOf(value, name);
  return typeof text === "string" ? text : undefined;
}

/** Whether something is an error of this realm. */
export const isError = (value: unknown): value is Error => attempt(() => value instanceof Error) === true;

/** What was thrown, in words: an error's message; of any other object only its kind, since its fields may be secret. */
export function wordsOf(thrown: unknown): string {
  if (!isObject(thrown)) return String(thrown);
  return textOf(thrown, "message") || (attempt(() => Object.prototype.toString.call(thrown)) ?? "[object Object]");
}

/** What ended a step, in a word: an error's name. */
export const endingOf = (error: unknown): string => (isError(error) ? (textOf(error, "name") ?? "Error") : "aborted");
