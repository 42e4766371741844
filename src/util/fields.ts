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
  const rest = withFields(given, (copy) => copy);
  // An object without own fields, such as a signal, is returned unchanged, so that its check recognizes it.
  if (rest === given || Object.keys(rest).length === 0) return [fields, given];
  for (const name of names) {
    fields[name] = rest[name];
    delete (rest as Partial<Given>)[name];
  }
  return [fields, rest];
}

/** Calls `make` with a copy of an object. A value that is not an object with fields, or cannot be read, is returned unchanged: its check reports it. */
export function withFields<Given extends object, Made>(given: Given, make: (copy: Given) => Made): Given | Made {
  try {
    return isObject(given) && isFieldObject(given) ? make({ ...given }) : given;
  } catch {
    return given;
  }
}

/** A copy of an object. Empty for a value that is not an object, or cannot be read: the check reports the missing fields. */
export const fieldsOf = <Given extends object>(given: Given): Partial<Given> => {
  const copy = withFields<Given, Given>(given, (fields) => fields);
  return copy === given ? {} : copy;
};
