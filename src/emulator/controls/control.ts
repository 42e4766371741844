import * as z from "zod/mini";
import { check } from "../../schemas/check.ts";
import type { Schema } from "../../schemas/shape.ts";
import { isRecord } from "../../schemas/type-guards.ts";
import { ControlError, inputError } from "../core/control-error.ts";
import type { Emulation } from "../emulation/emulation.ts";

/** What a control acts on. The page shows the control there. */
export type Subject =
  | "order"
  | "claim"
  | "render"
  | "product"
  | "store"
  | "key"
  | "limit"
  | "fault"
  | "clock"
  | "world"
  | "request"
  | "callback";

type Fields = Readonly<Record<string, z.ZodMiniType>>;
type InputOf<Given extends Fields> = { readonly [Name in keyof Given]: z.infer<Given[Name]> };

/** The required fields in the order of `Names`, then an object with the others. */
type Method<Given extends Fields, Names extends readonly (keyof Given)[], Result> = (
  ...args: [
    ...{ -readonly [Position in keyof Names]: InputOf<Given>[Names[Position]] },
    options?: Partial<Omit<InputOf<Given>, Names[number]>>,
  ]
) => Result;

/** An action of the operator or of a test. The HTTP route, the method, the page's button and the reference page derive from it. */
export interface Control {
  /** One sentence, for the page and the reference. */
  readonly about: string;
  readonly on: Subject;
  /** The fields that are positional parameters of the method. The others are its options. */
  readonly required: readonly string[];
  readonly schema: Schema;
  /** Checks the input and carries it out. Throws a {@link ControlError}. */
  run(emulation: Emulation, input: unknown): unknown;
}

/** A control with its method, whose type is that of the fields. */
export interface MethodControl<Call extends (...args: never[]) => unknown> extends Control {
  /** Makes the method of the emulator. */
  method(emulation: Emulation): Call;
}

interface Definition<Given extends Fields, Names extends readonly (keyof Given & string)[], Result>
  extends Pick<Control, "about" | "on"> {
  readonly fields: () => Given;
  readonly required: Names;
  run(emulation: Emulation, input: InputOf<Given>): Result;
}

/** The methods of a group of controls. */
type MethodsOf<Group> = { [Name in keyof Group]: Group[Name] extends MethodControl<infer Call> ? Call : never };

/** Makes the methods of a group of controls. */
export const methodsOf = <Group extends Readonly<Record<string, MethodControl<(...args: never[]) => unknown>>>>(
  group: Group,
  emulation: Emulation,
): MethodsOf<Group> =>
  Object.fromEntries(Object.entries(group).map(([name, { method }]) => [name, method(emulation)])) as MethodsOf<Group>;

/** The caller handles the error. */
const ignore = () => {};

/** Makes a control from its fields and what it does. */
export function control<const Given extends Fields, const Names extends readonly (keyof Given & string)[], Result>({
  fields,
  run,
  ...common
}: Definition<Given, Names, Result>): MethodControl<Method<Given, Names, Result>> {
  const { required } = common;
  const schema = () => z.strictObject(fields());

  const checked = (emulation: Emulation, input: unknown): Result => {
    const result = check(schema, input, [], { message: "is not a known field of this control" });
    if (result.ok) {
      const outcome = run(emulation, result.value as InputOf<Given>);
      if (outcome instanceof Promise) outcome.then(() => emulation.changed(), ignore);
      else emulation.changed();
      return outcome;
    }
    throw inputError("The input of the control is not valid.", result.issues);
  };

  return {
    ...common,
    schema,
    run: checked,
    method:
      (emulation) =>
      (...args) => {
        const values: readonly unknown[] = args;
        const options = values[required.length] ?? {};
        if (!isRecord(options)) throw new ControlError(`Give the options as an object; got ${String(options)}`, []);
        const input: Record<string, unknown> = { ...options };
        for (const [position, field] of required.entries()) input[field] = values[position];
        return checked(emulation, input);
      },
  };
}
