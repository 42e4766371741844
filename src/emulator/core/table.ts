/** Records by reference, in the order of their creation. A record is plain JSON. */
export class Table<Stored extends { readonly reference: string }> {
  readonly #records = new Map<string, Stored>();

  get size(): number {
    return this.#records.size;
  }

  add<Added extends Stored>(record: Added): Added {
    this.#records.set(record.reference, record);
    return record;
  }

  get(reference: string | null | undefined): Stored | undefined {
    return typeof reference === "string" ? this.#records.get(reference) : undefined;
  }

  delete(reference: string): void {
    this.#records.delete(reference);
  }

  /** All records, oldest first. */
  values(): Iterable<Stored> {
    return this.#records.values();
  }

  save(): readonly Stored[] {
    return [...this.#records.values()];
  }

  /** Replaces all records. */
  load(records: readonly Stored[]): void {
    this.#records.clear();
    for (const record of records) this.add(record);
  }
}
