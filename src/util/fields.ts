import { isFieldObject, isObject } from "./foreign.ts";

/** Any subset of the fields. A missing or undefined field has no effect. */
export type Overrides<Fields> = { readonly [Field in keyof Fields]?: Fields[Field] | undefined };

/** Copies `fields` and replaces those that `some` defines. */
export function withOverrides<Fields extends object>(fields: Fields, some: Overrides<Fields>): Fields {
  const all = { ...fields };
  for (const field in some) {
    const value = some[field];
    if (value !== undefined) all[field] = value;
  }
  return all;
}

/**
 * Splits an object into the named fields and the rest. A value that is not an object, or cannot be read, is returned unchanged as the rest; the
 * check of the rest reports it.
 */
export function splitFields<Given extends object, Name extends keyof Given>(
  given: Given,
  ...names: readonly Name[]
): readonly [fields: Partial<Pick<Given, Name>>, rest: Omit<Given, Name>] {
  const fields: Partial<Pick<Given, Name>> = {};
  const rest = copied(given);
  // A signal of a polyfill is returned unchanged, so that its check recognizes it.
  if (!isObject(rest) || rest === given) return [fields, given];
  if (Object.keys(rest).length === 0 && !names.some((name) => name in rest)) return [fields, given];
  for (const name of names) {
    fields[name] = rest[name];
    delete (rest as Partial<Given>)[name];
  }
  return [fields, rest];
}

/**
 * Copies an object with its fields. What a class computes, and what a prototype holds, becomes a field that is not enumerable: a check reads it
 * by its name, and does not report it as unknown.
 */
function copyOf<Given extends object>(given: Given): Given {
  const copy = { ...given };
  for (let from: object = given, next: object | null; ; from = next) {
    next = Object.getPrototypeOf(from);
    // The root of all objects, of any realm.
    if (next === null) return copy;
    for (const name of Object.getOwnPropertyNames(from)) {
      if (Object.hasOwn(copy, name)) continue;
      const { get, enumerable } = Object.getOwnPropertyDescriptor(from, name) ?? {};
      const isField = from === given || enumerable === true || get !== undefined;
      if (isField)
        Object.defineProperty(copy, name, { value: Reflect.get(given, name), configurable: true, writable: true });
    }
  }
}

/** Calls `make` with a copy of an object. A value that is not an object with fields, or cannot be read, is returned unchanged: its check reports it. */
export function withFields<Given extends object, Made>(given: Given, make: (copy: Given) => Made): Given | Made {
  try {
    return isObject(given) && isFieldObject(given) ? make(copyOf(given)) : given;
  } catch {
    return given;
  }
}

/** A copy of an object. A value that is not an object with fields, or cannot be read, is returned unchanged. */
export const copied = <Given extends object>(given: Given): Given => withFields<Given, Given>(given, (copy) => copy);

/** A copy of an object. Empty for a value that is not an object, or cannot be read: the check reports the missing fields. */
export const fieldsOf = <Given extends object>(given: Given): Partial<Given> => {
  const copy = copied(given);
  return copy === given ? {} : copy;
};
