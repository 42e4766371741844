import type { Issue } from "../errors/validation.ts";
import { type ReferenceKind, referenceFault } from "../references/references.ts";
import { canonicalJson, sha256 } from "../util/digest.ts";
import { wordsOf } from "../util/foreign.ts";
import type { SnapshotCell } from "./list-changes.ts";

/** The fields of an entry, without its reference. A missing field has no cell. */
export type Row = Readonly<Record<string, SnapshotCell | undefined>>;

/** The cell of a field. A field can have the name of a method of each object, such as `constructor`. */
export const cellAt = (row: Row, name: string): SnapshotCell | undefined =>
  Object.hasOwn(row, name) ? row[name] : undefined;

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

/** Whether a value is stored itself. A database may refuse a text: PostgreSQL refuses U+0000 and lone surrogates in `jsonb`. */
function isStored(value: unknown, limit: number): value is string | number | boolean | null | undefined {
  if (typeof value === "object") return value === null;
  if (typeof value !== "string") return true;
  if (value.length >= limit || !value.isWellFormed() || value.includes("\0")) return false;
  return encoder.encode(JSON.stringify(value)).length <= limit;
}

/** Makes the cell of a value of JSON. */
export async function cellOf(value: unknown, known: boolean): Promise<SnapshotCell | undefined> {
  if (isStored(value, known ? longest.known : longest.unknown)) return value;
  // The entries of a known array, such as the linked products of an item, are a set.
  return [await hashOf(canonicalJson(known && Array.isArray(value) ? value.map(canonicalJson).sort() : value))];
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

/** A snapshot of any list. */
export interface Snapshot {
  readonly version: 1;
  readonly kind: ReferenceKind;
  readonly fields: readonly string[];
  readonly rows: readonly (readonly SnapshotCell[])[];
}

/** The entries of a list in memory: the names of all fields, and a row for each reference. */
export interface Table {
  readonly fields: readonly string[];
  readonly rows: ReadonlyMap<string, Row>;
}

const version = 1;

const isText = (value: unknown): value is string => typeof value === "string";

const isCell = (cell: unknown): boolean =>
  Array.isArray(cell)
    ? cell.length <= 1 && cell.every(isText)
    : cell === null || ["string", "number", "boolean"].includes(typeof cell);

function faultOf(kind: ReferenceKind, given: unknown): Issue | undefined {
  const fault = (path: Issue["path"], message: string): Issue => ({ path: ["since", ...path], message });
  if (isText(given)) return fault([], "expected a snapshot as an object: parse its JSON first");
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return fault([], "expected the `snapshot` of an earlier result");
  const { version: written, kind: ofList, fields, rows }: Readonly<Record<string, unknown>> = { ...given };
  if (written !== version) return fault(["version"], `expected ${version}: begin again without \`since\``);
  if (ofList !== kind) return fault(["kind"], `expected "${kind}": this snapshot is of another list`);
  if (!Array.isArray(fields) || !fields.every(isText)) return fault(["fields"], "expected an array of names");
  if (!Array.isArray(rows)) return fault(["rows"], "expected an array");
  const isRow = (row: unknown): boolean =>
    Array.isArray(row) &&
    row.length <= 1 + fields.length &&
    referenceFault(kind, `${kind}_${row[0]}`) === undefined &&
    row.every(isCell);
  const damaged = rows.findIndex((row) => !isRow(row));
  if (damaged < 0) return undefined;
  const message = `expected the 26 characters of a reference and at most ${fields.length} values`;
  return fault(["rows", damaged], `${message}: the snapshot is damaged`);
}

/** Checks a value that a caller gave as a snapshot. Reports the first fault only: a damaged snapshot can have one in every row. */
export function snapshotFaults(kind: ReferenceKind, given: unknown): readonly Issue[] {
  if (given === undefined || given === null) return [];
  try {
    return [faultOf(kind, given)].filter((fault) => fault !== undefined);
  } catch (error) {
    return [{ path: ["since"], message: `cannot be read: ${wordsOf(error)}` }];
  }
}

/** Reads a checked snapshot. */
export function readSnapshot(given: Snapshot | null | undefined): Table {
  const { kind, fields, rows } = given ?? { kind: "", fields: [], rows: [] };
  const toRow = (cells: readonly SnapshotCell[]): Row => {
    // An empty array is a missing field.
    const present = cells.map((cell) => (isHash(cell) && cell.length === 0 ? undefined : cell));
    return Object.fromEntries(fields.map((name, column) => [name, present[column]]));
  };
  return { fields, rows: new Map(rows.map(([id, ...cells]) => [`${kind}_${id}`, toRow(cells)])) };
}

/** Writes a table as a plain JSON value. */
export function writeSnapshot(kind: ReferenceKind, { fields, rows }: Table): Snapshot {
  const toCells = (row: Row): SnapshotCell[] => {
    const end = fields.findLastIndex((name) => cellAt(row, name) !== undefined) + 1;
    return fields.slice(0, end).map((name) => {
      const cell = cellAt(row, name);
      return cell === undefined ? [] : cell;
    });
  };
  const written = Array.from(rows, ([reference, row]) => [reference.slice(kind.length + 1), ...toCells(row)]);
  return { version, kind, fields, rows: written };
}
