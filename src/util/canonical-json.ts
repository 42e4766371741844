const withSortedNames = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/** Writes a value as JSON with the names of each object in one order, so that the same content has the same text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, withSortedNames);
