/** The number of pages that are remembered. New items move an older item to a later page while the list is read, but not this far. */
const pages = 8;

/** Leaves out items whose reference was on one of the last pages, in bounded memory. */
export class RecentItems<Item> {
  readonly #pages: Set<unknown>[] = [];

  withoutRepeats(items: readonly Item[]): readonly Item[] {
    const seen = new Set<unknown>();
    const fresh = items.filter((item) => {
      const reference: unknown = typeof item === "object" && item !== null ? Reflect.get(item, "reference") : undefined;
      if (typeof reference !== "string") return true;
      if (seen.has(reference) || this.#pages.some((page) => page.has(reference))) return false;
      seen.add(reference);
      return true;
    });
    this.#pages.push(seen);
    if (this.#pages.length > pages) this.#pages.shift();
    return fresh;
  }
}
