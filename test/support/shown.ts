import { inspect } from "node:util";

/** Everything that a value shows when it is printed, logged or serialized. */
export function shown(value: unknown): string {
  const texts = [
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true, maxStringLength: null }),
  ];
  texts.push(String(value), JSON.stringify(value) ?? "");
  for (let error = value; error instanceof Error; error = error.cause) texts.push(error.message, error.stack ?? "");
  return texts.join("\n");
}
