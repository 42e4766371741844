/** An item moves to a later page when others are made before it while the list is read: it does not move farther than this. */
const pages = 8;

/** Leaves out the items that one of the last pages has given, told by their references, in bounded memory. */
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
