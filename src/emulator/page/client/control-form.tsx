import { useSignal } from "@preact/signals";
import type { ControlView } from "../view.ts";
import { attempt } from "./actions.ts";
import { Button } from "./parts.tsx";
import { refresh, run } from "./stream.ts";

/** The part of JSON Schema that the controls' input uses. */
interface FieldSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

/** The kind of field that a property needs. Everything that is not a plain value is written as JSON. */
function fieldOf(schema: FieldSchema): "text" | "number" | "boolean" | "enum" | "json" {
  if (schema.enum !== undefined) return "enum";
  if (schema.type === "string") return "text";
  if (schema.type === "number" || schema.type === "integer") return "number";
  if (schema.type === "boolean") return "boolean";
  const types = new Set(schema.anyOf?.map(({ type }) => type));
  return types.has("string") && !types.has("null") && !types.has("number") ? "text" : "json";
}

/** Reads the text of a field. An empty field is left out. Throws for text that is not JSON. */
function parsed(schema: FieldSchema, text: string): unknown {
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

interface FieldProps {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly required: boolean;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function Field({ name, schema, required, value, onValue }: FieldProps) {
  const kind = fieldOf(schema);
  const options = kind === "boolean" ? ["true", "false"] : kind === "enum" ? schema.enum?.map(String) : undefined;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: it contains the field in both cases.
    <label class="field">
      <span>
        {name}
        {required ? "" : " (optional)"}
        {kind === "json" ? ", as JSON" : ""}
      </span>
      {options === undefined ? (
        <input
          type="text"
          inputMode={kind === "number" ? "decimal" : "text"}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      ) : (
        <select value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
          <option value="">choose…</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      )}
    </label>
  );
}

/** A form for any control, made from the schema of its input. */
export function ControlForm({ control }: { readonly control: ControlView }) {
  const values = useSignal<Readonly<Record<string, string>>>({});
  const { properties = {}, required = [] }: FieldSchema = control.input;
  const send = () =>
    attempt(async () => {
      const entries = Object.entries(properties).map(([name, schema]) => [
        name,
        parsed(schema, values.value[name] ?? ""),
      ]);
      const result = await run<unknown>(control.name, Object.fromEntries(entries));
      await refresh();
      return result === null ? `${control.name}: done` : `${control.name}: ${JSON.stringify(result).slice(0, 200)}`;
    });
  return (
    <details class="control">
      <summary>
        <code>{control.name}</code> <span class="muted">{control.about}</span>
      </summary>
      <div class="form">
        {Object.entries(properties).map(([name, schema]) => (
          <Field
            key={name}
            name={name}
            schema={schema}
            required={required.includes(name)}
            value={values.value[name] ?? ""}
            onValue={(value) => {
              values.value = { ...values.value, [name]: value };
            }}
          />
        ))}
        <div class="actions">
          <Button kind="primary" onPress={send}>
            Run {control.name}
          </Button>
        </div>
      </div>
    </details>
  );
}
