import { expect, it } from "vitest";
import * as z from "zod/mini";
import { jsonSchema } from "../../../src/emulator/controls/json-schema.ts";
import { allControls } from "../../../src/emulator/controls/table.ts";

/** What our description leaves out: bounds, patterns and the schemas of values that it calls "any". */
const leftOut = new Set([
  "$schema",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "pattern",
  "format",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "propertyNames",
]);

function simplified(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplified);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !leftOut.has(name));
  if (entries.length === 0) return {};
  const object = Object.fromEntries(entries.map(([name, inner]) => [name, simplified(inner)]));
  const { anyOf, type } = object as { anyOf?: { type?: string }[]; type?: string };
  if (anyOf?.every((option) => Object.keys(option).join() === "type"))
    return { type: anyOf.map((option) => option.type) };
  return type === "object" && "properties" in object ? { required: [], ...object } : object;
}

it.each(Array.from(allControls).filter(([name]) => name !== "load"))(
  "the input of %s is described as zod describes it",
  (_name, { schema }) => {
    const expected = z.toJSONSchema(schema() as z.ZodMiniType, { unrepresentable: "any", io: "input" });
    expect(jsonSchema(schema())).toEqual(simplified(expected));
  },
);

it("a program can read from the list which fields each kind of fault has", () => {
  const { properties } = jsonSchema(allControls.get("faults.add")?.schema() as z.core.$ZodType);
  const kinds = properties?.fault?.oneOf ?? [];
  expect(kinds.map(({ properties }) => properties?.fault?.const)).toEqual([
    "drop",
    "status",
    "redirect",
    "body",
    "headers",
    "slow",
    "gateway",
    "stall",
    "trickle",
    "truncate",
  ]);
  expect(kinds.find(({ properties }) => properties?.fault?.const === "status")).toEqual({
    type: "object",
    properties: {
      fault: { type: "string", const: "status" },
      on: { type: "string" },
      nth: { type: "integer" },
      when: { type: "string", enum: ["before", "after"] },
      status: { type: "integer" },
      code: { type: "string" },
      retryAfter: { type: ["number", "string"] },
    },
    required: ["fault", "status"],
    additionalProperties: false,
  });
});
