import type { ReferenceKind } from "pod-partner";

/** A valid reference, made by hand: `ref("Order", "1")` ends in 1 and is filled with zeros to 26 characters. */
export function ref<K extends ReferenceKind>(kind: K, tail = "1"): `${K}_${string}` {
  if (!/^[0123456789abcdefghjkmnpqrstvwxyz]{1,26}$/.test(tail))
    throw new Error(`"${tail}" is not a tail of a reference`);
  return `${kind}_${tail.padStart(26, "0")}`;
}

/** The first reference of each kind in a JSON value, by kind. */
export function referencesIn(value: unknown): ReadonlyMap<string, string> {
  const found = Array.from(JSON.stringify(value).matchAll(/"(([A-Z][a-z]+)_[0-9a-z]{26})"/g));
  return new Map(found.reverse().map(([, reference = "", kind = ""]) => [kind, reference]));
}
