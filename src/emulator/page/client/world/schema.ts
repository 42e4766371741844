/** The part of JSON Schema that the controls' input uses. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The kind of field that a property needs. Everything that is not a plain value is written as JSON. */
export function fieldOf(schema: Schema): "text" | "number" | "boolean" | "enum" | "json" {
  if (schema.enum !== undefined) return "enum";
  if (schema.type === "string") return "text";
  if (schema.type === "number" || schema.type === "integer") return "number";
  if (schema.type === "boolean") return "boolean";
  return schema.anyOf?.some(({ type }) => type === "string") ? "text" : "json";
}

/** Reads the text of a field. An empty field is left out. Throws for text that is not JSON. */
export function parsed(schema: Schema, text: string): unknown {
  if (text === "") return undefined;
  switch (fieldOf(schema)) {
    case "number":
      return Number(text);
    case "boolean":
      return text === "true";
    case "json":
      return JSON.parse(text);
    default:
      return text;
  }
}
