import { describe, expect, it } from "vitest";
import { allControls } from "../../src/emulator/controls/table.ts";
import { describeControl } from "../../src/emulator/server/control-plane.ts";

/** The part of JSON Schema that the input of controls uses. */
interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly items?: JsonSchema;
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** The kind of an object that is one of several: the field with one value. */
const kindOf = ({ properties = {} }: JsonSchema): string =>
  Object.entries(properties).flatMap(([name, schema]) =>
    schema.const === undefined ? [] : [`\`${name}: ${schema.const}\``],
  )[0] ?? "";

const typeOf = ({ type, enum: values, items, anyOf, oneOf, properties }: JsonSchema): string => {
  if (properties !== undefined) return `\`{ ${Object.keys(properties).join(", ")} }\``;
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(", ");
  if (oneOf !== undefined) return `one of ${oneOf.map(kindOf).join(", ")}, with [its fields](testing.md#faults)`;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" or ");
  if (items !== undefined) return `list of ${typeOf(items)}`;
  return type ?? "any";
};

const row = (name: string, schema: JsonSchema, required: boolean): string => {
  const initial = schema.default === undefined ? "" : `, default \`${JSON.stringify(schema.default)}\``;
  return `| \`${name}\` | ${typeOf(schema)}${required ? ", required" : initial} |`;
};

/** Controls with another form in the program: a fault's handle has `remove()`, and `emulator.worlds` has `names`. */
const overHttp = new Set(["faults.remove", "worlds.list"]);

/** The section of a control: its method, its request, and the fields of its input. */
function sectionOf(name: string): string {
  const control = allControls.get(name);
  if (control === undefined) throw new Error(`no control ${name}`);
  const { properties = {}, required = [] } = describeControl(name, control).input as JsonSchema;
  const options = Object.keys(properties).filter((field) => !control.required.includes(field));
  const parameters = [...control.required, ...(options.length > 0 ? [`{ ${options.join(", ")} }`] : [])].join(", ");
  const fields = Object.entries(properties).map(([field, schema]) => row(field, schema, required.includes(field)));
  const table = fields.length === 0 ? "" : `\n\n| Field | Value |\n|---|---|\n${fields.join("\n")}`;
  const method = overHttp.has(name) ? "" : `\`emulator.${name}(${parameters})\`, or `;
  return `### \`${name}\`\n\n${control.about}\n\n${method}\`POST /_emulator/${name}\`${table}\n`;
}

const introduction = `# Emulator controls

*Which controls does the emulator have, also with curl?*

Each control is a method of the emulator, and a request over HTTP: a POST with a JSON object of its fields. The response is
\`{ "result": … }\`, or \`{ "code", "message" }\` with 400 (\`invalid_input\`, or \`refused\` when the state does not allow it) or 404. A program
of another machine or a page of another site cannot use them. \`GET /_emulator\` lists them with the JSON schema of each input.

\`\`\`sh
curl -X POST http://127.0.0.1:4010/_emulator/clock.advance -H 'Content-Type: application/json' -d '{"span":{"days":3}}'
\`\`\`

This page is generated from the controls: see docs/contributing/README.md in the repository.
`;

describe("docs/emulator-controls.md", () => {
  it("describes every control, as the code does", async () => {
    const subjects = new Set(Array.from(allControls.values(), ({ on }) => on));
    const groups = [...subjects].map((subject) => {
      const names = [...allControls].filter(([, { on }]) => on === subject).map(([name]) => name);
      return `## On ${/^[aeiou]/.test(subject) ? "an" : "a"} ${subject}\n\n${names.map(sectionOf).join("\n")}`;
    });
    await expect([introduction, ...groups].join("\n")).toMatchFileSnapshot("../../docs/emulator-controls.md");
  });
});
