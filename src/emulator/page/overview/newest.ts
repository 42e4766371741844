import type { Listed } from "./view.ts";

/** The most records of one list that the page receives. More make the page slow and do not help its reader. */
const shown = 100;

/** The newest of records that are ordered oldest first. Its work does not grow with their number. */
export const newest = <Record, Item>(records: readonly Record[], view: (record: Record) => Item): Listed<Item> => ({
  items: records.slice(-shown).reverse().map(view),
  total: records.length,
});
