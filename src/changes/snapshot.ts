import * as z from "zod/mini";
import { type ReferenceKind, referenceFault } from "../references/references.ts";
import { array } from "../schemas/shape.ts";
import { canonicalJson, sha256 } from "../util/digest.ts";
import type { ListSnapshot, Referenced, SnapshotCell } from "./list-changes.ts";

/** The cells of an entry, in the order of the names of the fields. A missing field has no cell. */
export type Cells = readonly (SnapshotCell | undefined)[];

/** A snapshot of any list. */
export type Snapshot = ListSnapshot<Referenced>;

const version = 1;

/**
 * Maximum bytes of JSON of a value in a snapshot. A longer value is stored as a hash. A known field may be longer than a hash, so that most old
 * values can be reported. Unknown fields may not, because their number is not limited.
 */
const maxBytes = { known: 34, unknown: 12 };

const encoder = new TextEncoder();

export const isHash = (cell: SnapshotCell | undefined): cell is readonly string[] => Array.isArray(cell);

/** The first 48 bits of the SHA-256 of a text. */
async function hashOf(text: string): Promise<string> {
  return btoa(String.fromCharCode(...(await sha256(text)).subarray(0, 6)));
}

/** Whether a value is stored as it is. PostgreSQL refuses U+0000 and lone surrogates in `jsonb`, so such a text is hashed. */
function isStored(value: unknown, limit: number): value is string | number | boolean | null | undefined {
  if (typeof value === "object") return value === null;
  if (typeof value !== "string") return true;
  if (value.length >= limit || !value.isWellFormed() || value.includes("\0")) return false;
  return encoder.encode(JSON.stringify(value)).length <= limit;
}

/** Makes the cell of a value of JSON. */
export async function cellOf(value: unknown, known: boolean): Promise<SnapshotCell | undefined> {
  if (isStored(value, known ? maxBytes.known : maxBytes.unknown)) return value;
  // The entries of a known array, such as the linked products of an item, are a set.
  return [await hashOf(canonicalJson(known && Array.isArray(value) ? value.map(canonicalJson).sort() : value))];
}

/** Whether two cells stand for the same value. An older SDK may have stored a hash, because it did not know the field. */
export async function isSame(one: SnapshotCell | undefined, other: SnapshotCell | undefined): Promise<boolean> {
  if (one === undefined || other === undefined || !(isHash(one) || isHash(other))) return one === other;
  const [hash, otherHash] = [one, other].map((cell) => (isHash(cell) ? cell[0] : hashOf(JSON.stringify(cell))));
  return (await hash) === (await otherHash);
}

const isCell = (cell: unknown): boolean =>
  Array.isArray(cell)
    ? cell.length === 0 || (cell.length === 1 && typeof cell[0] === "string")
    : cell === null || ["string", "number", "boolean"].includes(typeof cell);

/** The schema of the option `since` of a list. */
export function since(kind: ReferenceKind) {
  const isRow = (row: unknown): boolean =>
    Array.isArray(row) && referenceFault(kind, `${kind}_${row[0]}`) === undefined && row.every(isCell);
  const fields = {
    version: z.literal(version, { error: `expected ${version}: begin again without \`since\`` }),
    kind: z.literal(kind, { error: `expected "${kind}": this snapshot is of another list` }),
    fields: array(z.string()),
    rows: array(
      z.custom(isRow, { error: "expected the 26 characters of a reference and values: the snapshot is damaged" }),
    ),
  };
  const error = ({ input }: { readonly input?: unknown }) =>
    typeof input === "string"
      ? "expected a snapshot as an object: parse its JSON first"
      : "expected the `snapshot` of an earlier result";
  return z.nullish(z.object(fields, { error }));
}

/** Reads the rows of a snapshot, with the cells in the order of `names`. An empty array is a missing field. */
export function readRows({ kind, fields, rows }: Snapshot, names: readonly string[]): ReadonlyMap<string, Cells> {
  const columns = names.map((name) => fields.indexOf(name));
  const present = (cell: SnapshotCell | undefined) => (isHash(cell) && cell.length === 0 ? undefined : cell);
  return new Map(rows.map(([id, ...cells]) => [`${kind}_${id}`, columns.map((column) => present(cells[column]))]));
}

/** Writes the entries of a list as a plain JSON value. Missing fields at the end of a row have no cell. */
export function writeSnapshot(
  kind: ReferenceKind,
  fields: readonly string[],
  rows: ReadonlyMap<string, Cells>,
): Snapshot {
  const written = Array.from(rows, ([reference, row]) => {
    const end = row.findLastIndex((cell) => cell !== undefined) + 1;
    return [reference.slice(kind.length + 1), ...row.slice(0, end).map((cell) => (cell === undefined ? [] : cell))];
  });
  return { version, kind, fields, rows: written };
}
