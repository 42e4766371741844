type Json = Readonly<Record<string, unknown>> | readonly unknown[];

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** A changed copy of a body, with the path of the change. */
export type Variant = readonly [path: string, body: unknown];

const within = (body: Json, key: string, variants: readonly Variant[]): readonly Variant[] =>
  variants.map(([path, inner]) => [
    path === "" ? key : `${key}.${path}`,
    Array.isArray(body) ? body.map((one, index) => (String(index) === key ? inner : one)) : { ...body, [key]: inner },
  ]);

/** One copy for each object of a body, with a field more. */
export function withUnknownField(body: Json): readonly Variant[] {
  const own: readonly Variant[] = Array.isArray(body) ? [] : [["undocumented", { ...body, undocumented: 1 }]];
  const inner = Object.entries(body).filter(([, value]) => isJson(value));
  return [...own, ...inner.flatMap(([key, value]) => within(body, key, withUnknownField(value as Json)))];
}

/** One copy for each field and entry of a body, with a value of another type. */
export function withWrongType(body: Json): readonly Variant[] {
  return Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .flatMap(([key, value]) => [
      ...within(body, key, [["", isJson(value) ? "text" : { wrong: "type" }]]),
      ...(isJson(value) ? within(body, key, withWrongType(value)) : []),
    ]);
}

/** A copy whose field at a path, for example `order.orderlines.0.quantity`, is missing, or has another value. */
export function withField(body: unknown, path: string, value?: unknown): unknown {
  const [key = "", ...rest] = path.split(".");
  if (!isJson(body) || !Object.hasOwn(body, key)) throw new Error(`There is no field ${path}`);
  const inner = rest.length === 0 ? value : withField(Reflect.get(body, key), rest.join("."), value);
  if (Array.isArray(body)) return body.map((one, index) => (String(index) === key ? inner : one));
  return { ...body, [key]: inner };
}
