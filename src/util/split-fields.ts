/**
 * Takes named fields out of an object. What is no object, as a program without types may give, goes on as it came: whoever
 * checks the rest tells of it.
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
