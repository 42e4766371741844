import type { Issue } from "../errors/validation.ts";
import { type ReferenceKind, referenceFault } from "../references/references.ts";
import { wordsOf } from "../util/foreign.ts";
import type { Row } from "./cells.ts";
import type { SnapshotCell } from "./list-changes.ts";

/** A snapshot of any list. */
export interface Snapshot {
  readonly version: 1;
  readonly kind: ReferenceKind;
  readonly fields: readonly string[];
  readonly rows: readonly (readonly SnapshotCell[])[];
}

/** The entries of a list in memory: the names of the columns, and a row for each reference. */
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
  const toRow = (cells: readonly SnapshotCell[]): Row =>
    cells.map((cell) => (Array.isArray(cell) && cell.length === 0 ? undefined : cell));
  return { fields, rows: new Map(rows.map(([id, ...cells]) => [`${kind}_${id}`, toRow(cells)])) };
}

/** Writes a table as a plain JSON value. */
export const writeSnapshot = (kind: ReferenceKind, { fields, rows }: Table): Snapshot => ({
  version,
  kind,
  fields,
  rows: Array.from(rows, ([reference, row]) => [
    reference.slice(kind.length + 1),
    ...Array.from(row, (cell) => (cell === undefined ? [] : cell)),
  ]),
});
