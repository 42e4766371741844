import type * as z from "zod/mini";

/** The part of JSON Schema that describes the input of a control. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly items?: JsonSchema;
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | JsonSchema;
}

const isRequired = ({ _zod: { def } }: z.core.$ZodType): boolean => def.type !== "optional" && def.type !== "default";

function objectSchema(shape: z.core.$ZodShape): JsonSchema {
  const fields = Object.entries(shape);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, jsonSchema(schema)])),
    required: fields.filter(([, schema]) => isRequired(schema)).map(([name]) => name),
    additionalProperties: false,
  };
}

/** Alternatives. Those that are only types become a list of types. */
function anyOf(options: readonly JsonSchema[]): JsonSchema {
  const types = options.flatMap((option) =>
    Object.keys(option).length === 1 && "type" in option ? [option.type] : [],
  );
  return types.length === options.length
    ? { type: types.flat().filter((type) => type !== undefined) }
    : { anyOf: options };
}

/** One value, or one of several values of the same type. */
function literal([first, ...others]: readonly unknown[]): JsonSchema {
  const type = typeof first;
  return others.length === 0 ? { type, const: first } : { type, enum: [first, ...others] };
}

/**
 * Describes a schema as JSON Schema. Zod's own function would be in the file of the build that the client loads, too; a test compares
 * the two. A schema of another kind describes any value.
 */
export function jsonSchema(schema: z.core.$ZodType): JsonSchema {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "string":
    case "boolean":
      return { type: def.type };
    case "number":
      return { type: "format" in def && String(def.format).endsWith("int") ? "integer" : "number" };
    case "enum":
      return { type: "string", enum: Object.values(def.entries) };
    case "array":
      return { type: "array", items: jsonSchema(def.element) };
    case "literal":
      return literal(def.values);
    case "record":
      return { type: "object", additionalProperties: jsonSchema(def.valueType) };
    case "union": {
      const options = def.options.map(jsonSchema);
      return "discriminator" in def ? { oneOf: options } : anyOf(options);
    }
    case "nullable":
      return anyOf([jsonSchema(def.innerType), { type: "null" }]);
    case "optional":
      return jsonSchema(def.innerType);
    case "default":
      return { ...jsonSchema(def.innerType), default: def.defaultValue };
    case "object":
      return objectSchema(def.shape);
    default:
      return {};
  }
}
