import { cellAt, cellOf, isHash, isSame, type Row, type Table } from "./snapshot.ts";

/** An entry of a list, by the fields that the comparison uses. */
interface ListedItem {
  readonly reference: string;
}

type Values = Readonly<Record<string, unknown>>;

/** Compares a list with a table of what it contained before. It keeps a row of every entry, but only the entries that differ. */
export class Comparison<Listed extends ListedItem> {
  /** The fields that the specification names. */
  readonly #known: ReadonlySet<string>;
  /** All fields. The known ones come first: unknown ones, which an entry may lack, are then cut off at the end of its row. */
  readonly #names: Set<string>;
  readonly #before: ReadonlyMap<string, Row>;
  readonly #now = new Map<string, Row>();
  /** The entries that were added or that differ. */
  readonly #news = new Map<string, Listed>();

  constructor(known: readonly string[], { fields, rows }: Table) {
    this.#known = new Set(known);
    this.#names = new Set([...known, ...fields]);
    this.#before = rows;
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
    await this.#set(reference, await this.#rowOf(Object.entries(values)), entry);
  }

  /**
   * Takes the response of the endpoint for one entry. It has the known fields of the list entry. Its unknown fields can have other values
   * than those of the list, so they are not compared.
   */
  async addDetail(reference: string, detail: Listed): Promise<void> {
    const listed = this.#now.get(reference) ?? this.#before.get(reference);
    const known = Object.entries(Object(detail) as Values).filter(([name]) => this.#known.has(name));
    await this.#set(reference, { ...listed, ...(await this.#rowOf(known)) }, detail);
  }

  /** Keeps an entry of the snapshot as it was. */
  keep(reference: string): void {
    this.#now.set(reference, this.#before.get(reference) ?? {});
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
      const fields = await this.#differences(before, this.#now.get(reference) ?? {});
      changed.push({ current, fields, previous: valuesOf(before, fields) });
    }
    const fields = [...this.#names];
    const removed = this.missing.map((reference) => ({
      reference,
      previous: valuesOf(this.#before.get(reference) ?? {}, fields),
    }));
    return { added, changed, removed, table: { fields, rows: this.#now } };
  }

  async #set(reference: string, row: Row, entry: Listed): Promise<void> {
    this.#now.set(reference, row);
    const before = this.#before.get(reference);
    if (before !== undefined && (await this.#differences(before, row)).length === 0) this.#news.delete(reference);
    else this.#news.set(reference, entry);
  }

  async #rowOf(values: readonly (readonly [string, unknown])[]): Promise<Row> {
    const cells = values.map(async ([name, value]) => {
      this.#names.add(name);
      return [name, await cellOf(value, this.#known.has(name))] as const;
    });
    return Object.fromEntries(await Promise.all(cells));
  }

  /** The names of the fields whose values differ. */
  async #differences(one: Row, other: Row): Promise<readonly string[]> {
    const differing: string[] = [];
    for (const name of this.#names) {
      if (!(await isSame(cellAt(one, name), cellAt(other, name)))) differing.push(name);
    }
    return differing;
  }
}

/** The values of a row that are not stored as hashes. */
function valuesOf(row: Row, names: readonly string[]): Values {
  const cells = names.map((name) => [name, cellAt(row, name)] as const);
  return Object.fromEntries(cells.filter(([, cell]) => cell !== undefined && !isHash(cell)));
}
