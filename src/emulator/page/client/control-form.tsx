import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { ControlView } from "../view.ts";
import { notify } from "./actions.ts";
import { Button } from "./parts.tsx";
import { state } from "./store.ts";
import { refresh, run } from "./stream.ts";

/** The part of JSON Schema that the controls' input uses. */
interface FieldSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly FieldSchema[];
  readonly pattern?: string;
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
function parsed(name: string, schema: FieldSchema, text: string): unknown {
  if (text === "") return undefined;
  switch (fieldOf(schema)) {
    case "number":
      return Number(text);
    case "boolean":
      return text === "true";
    case "json":
      try {
        return JSON.parse(text);
      } catch {
        throw new Error(`${name}: is not JSON`);
      }
    default:
      return text;
  }
}

/** The records whose references a field takes, with their names. */
function choicesOf({ pattern = "", anyOf = [] }: FieldSchema): readonly (readonly [reference: string, name: string])[] {
  const found = state.value;
  if (found === undefined) return [];
  const records: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
    Order: found.orders.items.map((one) => [one.reference, one.customIdentifier ?? one.legacyOrderCode]),
    Claim: found.claims.items.map((one) => [one.reference, `of ${one.orderName}`]),
    Render: found.renders.items.map((one) => [one.reference, `${one.product}, ${one.status}`]),
    Product: found.products.items.map((one) => [one.reference, one.name]),
    Store: found.stores.map((one) => [one.reference, one.name]),
  };
  const patterns = [pattern, ...anyOf.map((part) => part.pattern ?? "")];
  return Object.entries(records).flatMap(([kind, entries]) =>
    patterns.some((one) => one.includes(`${kind}_`)) ? entries : [],
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly required: boolean;
  readonly value: string;
  readonly failure: string | undefined;
  readonly onValue: (value: string) => void;
}

function Field({ name, schema, required, value, failure, onValue }: FieldProps) {
  const list = useId();
  const choices = choicesOf(schema);
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
          list={choices.length === 0 ? undefined : list}
          aria-invalid={failure !== undefined}
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
      {choices.length === 0 ? null : (
        <datalist id={list}>
          {choices.map(([reference, label]) => (
            <option key={reference} value={reference} label={label} />
          ))}
        </datalist>
      )}
      {failure === undefined ? null : <span class="failure-text">{failure}</span>}
    </label>
  );
}

/** A form for any control, made from the schema of its input. */
export function ControlForm({ control }: { readonly control: ControlView }) {
  const values = useSignal<Readonly<Record<string, string>>>({});
  const refusal = useSignal("");
  const { properties = {}, required = [] }: FieldSchema = control.input;
  /** What the emulator, or the reading of a field, said about the input. It names the field. */
  const failureOf = (name: string): string | undefined =>
    refusal.value.split("\n").find((line) => line.trim().replace(/^- /, "").startsWith(`${name}:`));
  const isOfField = Object.keys(properties).some((name) => failureOf(name) !== undefined);
  const send = async () => {
    try {
      refusal.value = "";
      const entries = Object.entries(properties).map(([name, schema]) => [
        name,
        parsed(name, schema, values.value[name] ?? ""),
      ]);
      const result = await run<unknown>(control.name, Object.fromEntries(entries));
      await refresh();
      notify(result === null ? `${control.name}: done` : `${control.name}: ${JSON.stringify(result).slice(0, 200)}`);
    } catch (error) {
      refusal.value = error instanceof Error ? error.message : String(error);
    }
  };
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
            failure={failureOf(name)}
            onValue={(value) => {
              values.value = { ...values.value, [name]: value };
            }}
          />
        ))}
        <p class="failure-text" role="alert">
          {isOfField ? "" : refusal.value}
        </p>
        <div class="actions">
          <Button kind="primary" onPress={send}>
            Run {control.name}
          </Button>
        </div>
      </div>
    </details>
  );
}
