import type { KeyValueStore } from "./store.ts";

type SetValue = KeyValueStore["set"];

/**
 * For the `set` of a store that copies its bytes: the same without the copy, for bytes that are not changed later. By the function, so that
 * a caller who replaces it gets each call.
 */
export const adopters = new WeakMap<SetValue, SetValue>();
