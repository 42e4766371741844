import { attempt, isFunction, isObject, propertyOf } from "./foreign.ts";

/*
 * Recognises the values of the platform by what they do. `instanceof` misses those of another realm, such as a `vm` context, and those of a
 * program that has replaced a global, as jsdom and polyfills do.
 */

/** The name of a built-in class, of any realm: `Date`, `ArrayBuffer`. */
const kindOf = (value: unknown): string | undefined =>
  attempt(() => Object.prototype.toString.call(value).slice("[object ".length, -1));

/** Whether a value has these methods. Never throws. */
export const hasMethods = (value: unknown, ...methods: readonly string[]): boolean =>
  methods.every((method) => isFunction(propertyOf(value, method)));

/** The bytes of a view or a buffer of any realm; undefined for anything else. */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isBuffer(value) || isShared(value) ? new Uint8Array(value) : undefined;
}

/** Whether it is a buffer that only this thread has. */
export const isBuffer = (value: unknown): value is ArrayBuffer => kindOf(value) === "ArrayBuffer";

const isShared = (value: unknown): value is SharedArrayBuffer => kindOf(value) === "SharedArrayBuffer";

/** Whether it is a blob or a file. That of an old jsdom cannot be read with its own methods. */
export const isBlob = (value: unknown): value is Blob =>
  isObject(value) &&
  typeof propertyOf(value, "size") === "number" &&
  hasMethods(value, "slice") &&
  (hasMethods(value, "stream", "arrayBuffer") || /^(Blob|File)$/.test(kindOf(value) ?? ""));

/** Whether it is a stream of the web. */
export const isWebStream = (value: unknown): value is ReadableStream<unknown> =>
  isObject(value) && hasMethods(value, "getReader");

export const isDate = (value: unknown): value is Date =>
  isObject(value) && (kindOf(value) === "Date" || hasMethods(value, "getTime", "toISOString"));

export const isUrl = (value: unknown): value is URL =>
  isObject(value) && typeof propertyOf(value, "href") === "string" && typeof propertyOf(value, "protocol") === "string";
