/** The longest lifetime in milliseconds, 31 688 years: a larger number does not fit into the columns of a database. */
const longest = 1e15;

/** The lifetime of a value in whole milliseconds, 0 for a value that is gone at once; undefined for one that stays. */
export function lifetimeOf(ttl: number | undefined): number | undefined {
  if (ttl === undefined || ttl === Number.POSITIVE_INFINITY) return undefined;
  if (Number.isNaN(Number(ttl))) throw new RangeError("`ttl` must be a number of milliseconds");
  return Math.min(Math.max(Math.ceil(ttl), 0), longest);
}
