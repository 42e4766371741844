/*
 * Reads values that the caller's code made or threw. A getter can throw, a name can be a number, and `instanceof` throws for a revoked proxy.
 * The functions up to the next block comment never throw.
 */

/** Returns what `read` returns; undefined if it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const hasFields = (value: unknown): value is object => isObject(value) || isFunction(value);

/** Reads a property of any value; undefined if it is missing or cannot be read. */
export const propertyOf = (value: unknown, name: PropertyKey): unknown =>
  hasFields(value) ? attempt(() => Reflect.get(value, name)) : undefined;

/** Reads a property that is a string; undefined if it is anything else. */
export function textOf(value: unknown, name: PropertyKey): string | undefined {
  const text = propertyOf(value, name);
  return typeof text === "string" ? text : undefined;
}

/** Whether a value is a promise, or another object with a function `then`. */
export const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  isFunction(propertyOf(value, "then"));

/** Whether a value is an error, of any realm. */
export const isError = (value: unknown): value is Error =>
  attempt(() => value instanceof Error || /^\[object (Error|DOMException)\]$/.test(tagOf(value))) === true;

/** Describes a thrown value: the message of an error, or only the kind of another object, because its fields can be secret. */
export function wordsOf(thrown: unknown): string {
  if (!hasFields(thrown)) return String(thrown);
  return textOf(thrown, "message") || (attempt(() => tagOf(thrown)) ?? "[object Object]");
}

/** The outcome of a failed step, for the timeline: the error's name. */
export const endingOf = (error: unknown): string => (isError(error) ? (textOf(error, "name") ?? "Error") : "aborted");

/** Calls a function of the caller. If it throws or rejects, the SDK's call and the process continue. */
export function safely(work: () => unknown, onFailure: (error: unknown) => void = () => undefined): void {
  try {
    const result = work();
    if (typeof result === "object" && result !== null) Promise.resolve(result).catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}

/*
 * Checks of the kind of a value. They can throw for a revoked proxy, so they are called where that is caught.
 */

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

/** What kind of object the language says that a value is, such as `[object Promise]`. */
export const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

/** Whether an object has fields: it is plain, or an instance of a caller's class. A map, a date or a promise would count as empty. */
export const isFieldObject = (value: object): boolean => isPlainObject(value) || tagOf(value) === "[object Object]";
