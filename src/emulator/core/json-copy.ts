/**
 * Copies JSON deeply, without fields that are undefined. It takes a fraction of the time of writing and parsing a text. Bytes, which the
 * body of a fault can be, are not copied.
 */
export function jsonCopy<Value>(value: Value): Value;
export function jsonCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => jsonCopy(entry));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) if (field !== undefined) copy[name] = jsonCopy(field);
  return copy;
}
