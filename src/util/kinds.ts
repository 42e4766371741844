import { attempt, isFunction, isObject, propertyOf, tagOf } from "./foreign.ts";

/*
 * Recognises the platform's objects by their methods. `instanceof` misses those of another realm, such as a `vm` context, and those of replaced
 * globals, as in jsdom and with polyfills.
 */

/** The name of a built-in class, of any realm: `Date`, `ArrayBuffer`. */
const kindOf = (value: unknown): string | undefined => attempt(() => tagOf(value).slice("[object ".length, -1));

/** Whether a value has these methods. Never throws. */
export const hasMethods = (value: unknown, ...methods: readonly string[]): boolean =>
  methods.every((method) => isFunction(propertyOf(value, method)));

/** The bytes of a view or a buffer of any realm; undefined for anything else. */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isBuffer(value) || isShared(value) ? new Uint8Array(value) : undefined;
}

/** Whether it is a buffer that is not shared with other threads. */
export const isBuffer = (value: unknown): value is ArrayBuffer => kindOf(value) === "ArrayBuffer";

const isShared = (value: unknown): value is SharedArrayBuffer => kindOf(value) === "SharedArrayBuffer";

/** Whether it is a blob or a file. In an old jsdom it has no methods to read it. */
export const isBlob = (value: unknown): value is Blob =>
  isObject(value) &&
  typeof propertyOf(value, "size") === "number" &&
  hasMethods(value, "slice") &&
  (hasMethods(value, "stream", "arrayBuffer") || /^(Blob|File)$/.test(kindOf(value) ?? ""));

/** Whether it is a web stream. */
export const isWebStream = (value: unknown): value is ReadableStream<unknown> =>
  isObject(value) && hasMethods(value, "getReader");

export const isDate = (value: unknown): value is Date =>
  isObject(value) && (kindOf(value) === "Date" || hasMethods(value, "getTime", "toISOString"));

export const isUrl = (value: unknown): value is URL =>
  isObject(value) && typeof propertyOf(value, "href") === "string" && typeof propertyOf(value, "protocol") === "string";
