import * as z from "zod/mini";
import { check } from "../../schemas/check.ts";
import type { Schema } from "../../schemas/shape.ts";
import { isFunction, isRecord, propertyOf } from "../../util/foreign.ts";
import { ControlError, inputError } from "../base/control-error.ts";
import type { Emulation } from "../state/emulation.ts";
import type { World } from "../state/world.ts";

/** What a control acts on. The page shows the control there. */
type Subject =
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

type ControlFields = Readonly<Record<string, z.ZodMiniType>>;
type InputOf<Given extends ControlFields> = { readonly [Name in keyof Given]: z.infer<Given[Name]> };

/** The required fields in the order of `Names`, then an object with the others. */
type ControlMethod<Given extends ControlFields, Names extends readonly (keyof Given)[], Result> = (
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

interface Definition<Given extends ControlFields, Names extends readonly (keyof Given & string)[], Result>
  extends Pick<Control, "about" | "on"> {
  /** Default: none. */
  readonly fields?: () => Given;
  /** Default: none. */
  readonly required?: Names;
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
export function control<
  Result,
  const Given extends ControlFields = Record<never, never>,
  const Names extends readonly (keyof Given & string)[] = readonly [],
>({
  fields,
  required: given,
  run,
  ...common
}: Definition<Given, Names, Result>): MethodControl<ControlMethod<Given, Names, Result>> {
  const required: readonly string[] = given ?? [];
  const schema = () => z.strictObject(fields?.() ?? {});

  const checked = (emulation: Emulation, input: unknown): Result => {
    const result = check(schema, input, [], { message: "is not a known field of this control" });
    if (result.ok) {
      const outcome = run(emulation, result.value as InputOf<Given>);
      const changed = (returned: unknown) =>
        emulation.changed({ control: made, input: result.value, result: returned });
      if (isFunction(propertyOf(outcome, "then"))) Promise.resolve(outcome).then(changed, ignore);
      else changed(outcome);
      return outcome;
    }
    throw inputError("The input of the control is not valid.", result.issues);
  };

  const made: MethodControl<ControlMethod<Given, Names, Result>> = {
    ...common,
    required,
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
  return made;
}

type Lists = {
  [Name in keyof World as World[Name] extends { get(reference: string): infer _Stored } ? Name : never]: World[Name];
};
type FoundRecord<List extends keyof Lists> = NonNullable<ReturnType<World[List]["get"]>>;

const words: Readonly<Record<string, string>> = {
  orders: "order",
  claims: "claim",
  renders: "render",
  shipments: "shipment",
  stores: "store",
  products: "product",
  items: "warehouse item",
};

/** Finds a record and the world that it belongs to. Throws a {@link ControlError} when no organization has it. */
export function find<List extends keyof Lists>(
  { worlds }: Emulation,
  list: List,
  reference: string,
): { readonly world: World; readonly record: FoundRecord<List> } {
  for (const world of worlds) {
    const record = world[list].get(reference);
    if (record !== undefined) return { world, record: record as FoundRecord<List> };
  }
  throw new ControlError(`The emulator has no ${words[list] ?? list} ${reference}`);
}

/** Finds the world of an organization. Default: the demo organization. */
export function organizationNamed({ worlds }: Emulation, name = worlds[0].organization.name): World {
  const world = worlds.find(({ organization }) => organization.name === name);
  if (world !== undefined) return world;
  throw new ControlError(`There is no organization ${name}`);
}
