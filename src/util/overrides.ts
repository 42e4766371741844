/** Some of the fields: one that is missing or undefined says nothing. */
export type Overrides<Fields> = { readonly [Field in keyof Fields]?: Fields[Field] | undefined };

/** The fields, with what `some` says of them in their place. */
export function withOverrides<Fields extends object>(fields: Fields, some: Overrides<Fields>): Fields {
  const all = { ...fields };
  for (const field in some) {
    const said = some[field];
    if (said !== undefined) all[field] = said;
  }
  return all;
}
