import type { Mutation } from "./case.ts";

type Path = readonly (string | number)[];

/** The paths of all values within a JSON value; the first is that of the value itself. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...path, name]))];
}

/** A copy of a JSON value that differs in one place, and whether the copy can pass for a true response. */
export function mutate(
  value: unknown,
  { place, value: other, remove }: Mutation,
): { readonly body: unknown; readonly plausible: boolean } {
  const paths = pathsOf(value);
  const path = paths[place % paths.length] ?? [];
  const name = path.at(-1);
  if (name === undefined) return { body: other, plausible: false };
  const copy = structuredClone(value);
  const parent = path.slice(0, -1).reduce((inner: unknown, key) => Reflect.get(Object(inner), key), copy);
  const before = Reflect.get(Object(parent), name);
  if (remove) Reflect.deleteProperty(Object(parent), name);
  else Object.defineProperty(parent, name, { value: other, enumerable: true, configurable: true, writable: true });
  // A client cannot check a value of the same type, or the cursor that ends a list.
  return { body: copy, plausible: name === "nextCursor" || (!remove && typeof before === typeof other) };
}
