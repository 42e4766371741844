import type { ListChange, ListChanges, ListSnapshot, Referenced } from "./list-changes.ts";
import { type Cells, cellOf, isHash, isSame, readRows, type Snapshot, writeSnapshot } from "./snapshot.ts";

/** Compares a list with a snapshot. It keeps a row for every entry, but only the entries that differ. */
export class Comparison<Listed extends Referenced> {
  readonly #known: ReadonlySet<string>;
  /** The field names of the cells in a row. Known fields come first, so that an entry without unknown fields has a shorter row. */
  readonly #names: Set<string>;
  readonly #before: ReadonlyMap<string, Cells>;
  readonly #now = new Map<string, Cells>();
  readonly #added = new Map<string, Pick<ListChange<Listed>, "current">>();
  readonly #changed = new Map<string, ListChange<Listed>>();

  /** @param known The names of the fields that the specification shows. */
  constructor(known: readonly string[], since: Snapshot | null | undefined) {
    this.#known = new Set(known);
    this.#names = new Set([...known, ...(since?.fields ?? [])]);
    this.#before = since ? readRows(since, [...this.#names]) : new Map();
  }

  /** The references in the snapshot that were not found yet. */
  get missing(): readonly string[] {
    return [...this.#before.keys()].filter((reference) => !this.#now.has(reference));
  }

  /** The references of the entries that were added or that changed. */
  get differing(): readonly string[] {
    return [...this.#added.keys(), ...this.#changed.keys()];
  }

  /** Adds an entry of the list. A later entry replaces an earlier one. */
  add(entry: Listed): Promise<void> {
    const { reference, ...values } = entry;
    for (const name of Object.keys(values)) this.#names.add(name);
    return this.#compare(reference, entry, Object.entries(values));
  }

  /**
   * Adds the response of the endpoint for one entry. Only the known fields are compared: unknown ones can have other values than in the
   * list.
   */
  addDetail(reference: string, detail: Listed): Promise<void> {
    const known = Object.entries(detail).filter(([name]) => this.#known.has(name));
    return this.#compare(reference, detail, known, this.#now.get(reference) ?? this.#before.get(reference));
  }

  /** Keeps an entry of the snapshot as it was. */
  keep(reference: string): void {
    this.#now.set(reference, this.#before.get(reference) ?? []);
  }

  /** Removes an entry that the service says does not exist. */
  remove(reference: string): void {
    for (const entries of [this.#now, this.#added, this.#changed]) entries.delete(reference);
  }

  /** The result, when the whole list was compared. */
  result(kind: Snapshot["kind"]): ListChanges<Listed> {
    return {
      added: [...this.#added.values()],
      changed: [...this.#changed.values()],
      removed: this.missing.map((reference) => ({ previous: this.#previousOf(reference) })),
      snapshot: writeSnapshot(kind, [...this.#names], this.#now) as ListSnapshot<Listed>,
    };
  }

  /** Compares an entry with the snapshot. A field without a value gets its cell from the row `listed`. */
  async #compare(reference: string, current: Listed, given: readonly [string, unknown][], listed: Cells = []) {
    const values = new Map(given);
    const names = [...this.#names];
    const row = await Promise.all(
      names.map((name, at) => (values.has(name) ? cellOf(values.get(name), this.#known.has(name)) : listed[at])),
    );
    this.#now.set(reference, row);
    const before = this.#before.get(reference);
    if (before === undefined) {
      this.#added.set(reference, { current });
      return;
    }
    const same = await Promise.all(row.map((cell, at) => isSame(before[at], cell)));
    const fields = names.filter((_, at) => !same[at]);
    if (fields.length === 0) this.#changed.delete(reference);
    else this.#changed.set(reference, { current, previous: this.#previousOf(reference), fields });
  }

  /** An entry of the snapshot, without the values that are stored as hashes. A snapshot has no types for its values. */
  #previousOf(reference: string): ListChange<Listed>["previous"] {
    const row = this.#before.get(reference) ?? [];
    const cells = Array.from(this.#names, (name, at) => [name, row[at]] as const);
    const known = cells.filter(([, cell]) => cell !== undefined && !isHash(cell));
    return { reference, ...Object.fromEntries(known) } as Referenced as ListChange<Listed>["previous"];
  }
}
