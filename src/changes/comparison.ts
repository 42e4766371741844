import type { SnapshotCell } from "./list-changes.ts";
import { cellOf, isHash, isSame, type Row, type Table } from "./snapshot.ts";

/** An entry of a list, by the fields that the comparison uses. */
interface ListedItem {
  readonly reference: string;
}

type Values = Readonly<Record<string, unknown>>;

/** Compares a list with a table of what it contained before. It keeps a row of every entry, but only the entries that differ. */
export class Comparison<Listed extends ListedItem> {
  /** The fields that the specification names. */
  readonly #known: ReadonlySet<string>;
  readonly #columns: Map<string, number>;
  readonly #before: ReadonlyMap<string, Row>;
  readonly #now = new Map<string, Row>();
  /** The entries that were added or that differ. */
  readonly #news = new Map<string, Listed>();

  constructor(known: readonly string[], { fields, rows }: Table) {
    this.#known = new Set(known);
    // The known fields come first: unknown ones, which an entry may lack, are then cut off at the end of its row.
    const names = [...new Set([...known, ...fields])];
    this.#columns = new Map(names.map((name, column) => [name, column]));
    const from = names.map((name) => fields.indexOf(name));
    this.#before = new Map(Array.from(rows, ([reference, row]) => [reference, from.map((column) => row[column])]));
  }

  /** The references of the snapshot that were not found yet. */
  get missing(): readonly string[] {
    return [...this.#before.keys()].filter((reference) => !this.#now.has(reference));
  }

  /** The references of the entries that were added or that differ. */
  get differing(): readonly string[] {
    return [...this.#news.keys()];
  }

  /** Takes an entry as the list has it. A later one replaces an earlier one. */
  async add(entry: Listed): Promise<void> {
    const { reference, ...values } = entry;
    await this.#set(reference, await this.#rowOf(values), entry);
  }

  /**
   * Takes the response of the endpoint for one entry. It has the known fields of the list entry. Its unknown fields can have other values
   * than those of the list, so they are not compared.
   */
  async addDetail(reference: string, detail: Listed): Promise<void> {
    const row = [...(this.#now.get(reference) ?? this.#before.get(reference) ?? [])];
    const known = Object.entries(Object(detail) as Values).filter(([name]) => this.#known.has(name));
    const cells = await this.#rowOf(Object.fromEntries(known));
    for (const [name] of known) {
      const column = this.#columnOf(name);
      row[column] = cells[column];
    }
    await this.#set(reference, row, detail);
  }

  /** Keeps an entry of the snapshot as it was. */
  keep(reference: string): void {
    this.#now.set(reference, this.#before.get(reference) ?? []);
  }

  /** Takes the news that an entry does not exist. */
  remove(reference: string): void {
    this.#now.delete(reference);
    this.#news.delete(reference);
  }

  /** The result, when every entry was taken. */
  async result() {
    const added: Listed[] = [];
    const changed: { current: Listed; fields: readonly string[]; previous: Values }[] = [];
    for (const [reference, current] of this.#news) {
      const before = this.#before.get(reference);
      if (before === undefined) {
        added.push(current);
        continue;
      }
      const fields = await this.#differences(before, this.#now.get(reference) ?? []);
      changed.push({ current, fields, previous: this.#valuesOf(before, fields) });
    }
    const names = [...this.#columns.keys()];
    const removed = this.missing.map((reference) => ({
      reference,
      previous: this.#valuesOf(this.#before.get(reference) ?? [], names),
    }));
    return { added, changed, removed, table: { fields: names, rows: this.#now } };
  }

  async #set(reference: string, row: Row, entry: Listed): Promise<void> {
    this.#now.set(reference, row);
    const before = this.#before.get(reference);
    if (before !== undefined && (await this.#differences(before, row)).length === 0) this.#news.delete(reference);
    else this.#news.set(reference, entry);
  }

  async #rowOf(values: Values): Promise<Row> {
    const row: (SnapshotCell | undefined)[] = [];
    for (const [name, value] of Object.entries(values)) {
      const cell = cellOf(value, this.#known.has(name));
      row[this.#columnOf(name)] = cell instanceof Promise ? await cell : cell;
    }
    return row;
  }

  /** The names of the fields whose values differ. */
  async #differences(one: Row, other: Row): Promise<readonly string[]> {
    const names: string[] = [];
    for (const [name, column] of this.#columns) {
      if (one[column] !== other[column] && !(await isSame(one[column], other[column]))) names.push(name);
    }
    return names;
  }

  /** The values of a row that are not stored as hashes. */
  #valuesOf(row: Row, names: readonly string[]): Values {
    const cells = names.map((name) => [name, row[this.#columnOf(name)]] as const);
    return Object.fromEntries(cells.filter(([, cell]) => cell !== undefined && !isHash(cell)));
  }

  #columnOf(name: string): number {
    const known = this.#columns.get(name);
    if (known !== undefined) return known;
    this.#columns.set(name, this.#columns.size);
    return this.#columns.size - 1;
  }
}
