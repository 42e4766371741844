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
