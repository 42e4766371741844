/** The number of pages that are remembered. New items move an older item to a later page while the list is read, but not this far. */
const pages = 8;

/** Leaves out items whose reference was on one of the last pages, in bounded memory. */
export class RecentItems<Item> {
  readonly #seen = new Set<string>();
  /** The references that each of the last pages added. */
  readonly #added: string[][] = [];

  withoutRepeats(items: readonly Item[]): readonly Item[] {
    const added: string[] = [];
    const fresh = items.filter((item) => {
      const reference: unknown = typeof item === "object" && item !== null ? Reflect.get(item, "reference") : undefined;
      if (typeof reference !== "string") return true;
      if (this.#seen.has(reference)) return false;
      this.#seen.add(reference);
      added.push(reference);
      return true;
    });
    this.#added.push(added);
    if (this.#added.length > pages) for (const reference of this.#added.shift() ?? []) this.#seen.delete(reference);
    return fresh;
  }
}
