import type { ReferenceKind } from "pod-partner";

/** A valid reference, made by hand: `ref("Order", "1")` ends in 1 and is filled with zeros to 26 characters. */
export function ref<K extends ReferenceKind>(kind: K, tail = "1"): `${K}_${string}` {
  if (!/^[0123456789abcdefghjkmnpqrstvwxyz]{1,26}$/.test(tail))
    throw new Error(`"${tail}" is not a tail of a reference`);
  return `${kind}_${tail.padStart(26, "0")}`;
}
