import type { Mutation } from "./case.ts";

type Path = readonly (string | number)[];

/** The paths of all values within a JSON value; the first is that of the value itself. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...path, name]))];
}

/** Whether a body says "none", as the look-up of an order may: null, or no field with a value. */
const saysNone = (body: unknown): boolean =>
  body === null ||
  (typeof body === "object" && !Array.isArray(body) && Object.values(body).every((value) => value === null));

/** A copy of a JSON value that differs in one place, and whether the copy can pass for a true response. */
export function mutate(
  value: unknown,
  { place, value: other, remove }: Mutation,
): { readonly body: unknown; readonly plausible: boolean } {
  const paths = pathsOf(value);
  const path = paths[place % paths.length] ?? [];
  const name = path.at(-1);
  if (name === undefined) return { body: other, plausible: saysNone(other) };
  const copy = structuredClone(value);
  const parent = path.slice(0, -1).reduce((inner: unknown, key) => Reflect.get(Object(inner), key), copy);
  const before = Reflect.get(Object(parent), name);
  if (remove) Reflect.deleteProperty(Object(parent), name);
  else Object.defineProperty(parent, name, { value: other, enumerable: true, configurable: true, writable: true });
  // A client cannot check a value of the same type, the cursor that ends a list, or a look-up that says that it has found nothing.
  const isSameType = !remove && typeof before === typeof other;
  return { body: copy, plausible: name === "nextCursor" || isSameType || saysNone(copy) };
}
