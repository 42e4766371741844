/**
 * Splits an object into the named fields and the rest. A value that is not an object (possible in JavaScript) is returned unchanged as
 * the rest; the check of the rest reports it.
 */
export function splitFields<Given extends object, Name extends keyof Given>(
  given: Given,
  ...names: readonly Name[]
): readonly [fields: Partial<Pick<Given, Name>>, rest: Omit<Given, Name>] {
  const fields: Partial<Pick<Given, Name>> = {};
  if (typeof given !== "object" || given === null) return [fields, given];
  const rest = { ...given };
  for (const name of names) {
    fields[name] = given[name];
    delete (rest as Partial<Given>)[name];
  }
  return [fields, rest];
}
