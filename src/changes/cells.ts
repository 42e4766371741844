import { canonicalJson } from "../util/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import type { SnapshotCell } from "./list-changes.ts";

/** One cell for each column; undefined for a missing field. */
export type Row = readonly (SnapshotCell | undefined)[];

/**
 * The most bytes of JSON that a value may have in a snapshot. A longer value is stored as a hash. A known field may be longer than its hash,
 * so that most old values can be reported; the number of unknown fields is not limited, so these may not.
 */
const longest = { known: 34, unknown: 12 };

const encoder = new TextEncoder();

export const isHash = (cell: SnapshotCell | undefined): cell is readonly string[] => Array.isArray(cell);

/** The first 48 bits of the SHA-256 of a text. */
async function hashOf(text: string): Promise<string> {
  return btoa(String.fromCharCode(...(await sha256(text)).subarray(0, 6)));
}

/** Characters that JSON writes as one byte. Most texts have no others, and checking this is faster than encoding the text. */
const plain = /^[ !#-[\]-~]*$/;

/** The bytes of a text in JSON; infinite if a database cannot store it. PostgreSQL refuses U+0000 and lone surrogates in `jsonb`. */
function bytesOf(text: string): number {
  if (plain.test(text)) return text.length + 2;
  return text.isWellFormed() && !text.includes("\0") ? encoder.encode(JSON.stringify(text)).length : Infinity;
}

function isShort(value: unknown, limit: number): value is string | number | boolean | null {
  if (typeof value === "object") return value === null;
  return typeof value !== "string" || (value.length < limit && bytesOf(value) <= limit);
}

const hashed = async (value: unknown): Promise<SnapshotCell> => [await hashOf(canonicalJson(value))];

/** Makes the cell of a value of JSON: at once for a short value. */
export function cellOf(value: unknown, known: boolean): SnapshotCell | Promise<SnapshotCell> {
  if (isShort(value, known ? longest.known : longest.unknown)) return value;
  // The entries of a known array, such as the linked products of an item, are a set.
  return hashed(known && Array.isArray(value) ? value.map(canonicalJson).sort() : value);
}

/**
 * Whether two cells stand for the same value. A version of the SDK that knows more fields stores more values themselves, so a value
 * may be compared with a hash.
 */
export async function isSame(one: SnapshotCell | undefined, other: SnapshotCell | undefined): Promise<boolean> {
  if (one === undefined || other === undefined) return one === other;
  if (isHash(one)) return one[0] === (isHash(other) ? other[0] : await hashOf(JSON.stringify(other)));
  return isHash(other) ? isSame(other, one) : one === other;
}
