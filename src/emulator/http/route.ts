import * as z from "zod/mini";
import type { ImageSource } from "../../binary/source.ts";
import type { Endpoint, EndpointInput } from "../../http/endpoint.ts";
import type { Schema } from "../../schemas/shape.ts";
import { isRecord } from "../../util/foreign.ts";
import type { OrganizationOptions } from "../catalog/organization.ts";
import type { EmulatorAssumptions } from "../settings/assumed.ts";
import type { EmulatorOptions } from "../settings/options.ts";
import type { Caller } from "../state/world.ts";
import type { CallbackOptions } from "../work/callback.ts";
import { dataResponse } from "./respond.ts";

/** An option of the emulator, or one of its parts. */
type OptionName =
  | keyof EmulatorOptions
  | `assumptions.${keyof EmulatorAssumptions}`
  | `callbacks.${keyof CallbackOptions}`
  | `seed.${keyof NonNullable<EmulatorOptions["seed"]>}`
  | `organizations.${keyof OrganizationOptions}`;

/** What changes a behaviour of the emulator. */
export interface Switches {
  readonly options?: readonly OptionName[];
  /** The names of controls: `POST /_emulator/<name>`. */
  readonly controls?: readonly string[];
}

/** Builds the schema of a body. */
export type BodySchema = (assumed: EmulatorAssumptions) => z.core.$ZodType;

/** Reduces a value to what the specification promises of it. `undefined` leaves the field out. */
export type Promised = (value: unknown) => unknown;

/**
 * What a route models of its endpoint, what it takes and what it promises: by hand from the specification (parts 2 to 4), and nothing of
 * the SDK's own schemas. The emulator would not notice that both assume the same.
 */
interface Declared extends Switches {
  /** What the emulator does, for `GET /_emulator/coverage`. */
  readonly models: string;
  readonly query?: Readonly<Record<string, Schema>>;
  /** The content of a JSON body, by what is assumed of it. */
  readonly body?: BodySchema;
  /** What the specification promises of the data: of a list, what it promises of an entry. */
  readonly promises?: Promised;
}

/** An image is no JSON: it has no schema. */
type TakesBody<Input> = Input extends { readonly body: infer Body }
  ? [ImageSource] extends [Body]
    ? { readonly body?: never }
    : { readonly body: BodySchema }
  : { readonly body?: never };

/** What the input of an endpoint makes its route declare: each parameter of the query, and the body. */
type Takes<Input> = TakesBody<Input> &
  (Input extends { readonly query?: infer Query extends object }
    ? { readonly query: Readonly<Record<keyof Query, Schema>> }
    : { readonly query?: never });

type Promises<Data> = undefined extends Data ? { readonly promises?: never } : { readonly promises: Promised };

/** The argument of a handler: the endpoint's checked input, the request and its caller. */
type RouteCall<Input> = Input & Caller & { readonly request: Request };

interface Handles<Input, Result> {
  handle(call: RouteCall<Input>): Result;
  /** Headers of a response that is one field. */
  headers?(call: RouteCall<Input>): Readonly<Record<string, string>>;
}

/** An endpoint with what the emulator declares about it, and the function that responds to its requests. */
export interface Route extends Declared {
  readonly endpoint: Endpoint;
  respond(input: EndpointInput, caller: Caller, request: Request): Promise<Response>;
}

/** Makes a route whose handler returns data of the descriptor's type. The data is wrapped as the descriptor says. */
export const route = <Input extends EndpointInput, Data>(
  endpoint: Endpoint<Input, Data>,
  declared: Declared & Takes<Input> & Promises<Data> & Handles<Input, Data | Promise<Data>>,
): Route => ({
  ...declared,
  endpoint,
  respond: async (input, caller, request) => {
    const call = { ...(input as Input), ...caller, request };
    const data = await declared.handle(call);
    const isMinimal = caller.world.settings.shapes === "minimal";
    const content = isMinimal ? reduced(endpoint, declared.promises ?? whole, data) : data;
    return dataResponse(endpoint, content, caller.world.settings, declared.headers?.(call));
  },
});

/** Makes a route whose handler returns a whole response, such as a file. */
export const rawRoute = <Input extends EndpointInput>(
  endpoint: Endpoint<Input>,
  declared: Declared & Takes<Input> & Handles<Input, Response>,
): Route => ({
  ...declared,
  endpoint,
  respond: async (input, caller, request) => declared.handle({ ...(input as Input), ...caller, request }),
});

/** The data of a response without what is not promised. */
function reduced({ response }: Endpoint, promised: Promised, data: unknown): unknown {
  if (response.kind === "page" && isRecord(data)) return { ...data, items: each(promised)(data.items) };
  return Array.isArray(data) ? data.map(promised) : promised(data);
}

/** The specification promises the value as it is. */
export const whole: Promised = (value) => value;
/** The field is there only where it applies: without a value it is left out. */
export const ifAny: Promised = (value) => value ?? undefined;
/** Null for a text that was not written. */
export const written: Promised = (value) => (value === "" ? null : value);

/** An object with these fields, which the specification promises, and no others. Null stays null. */
export const only =
  (fields: Readonly<Record<string, Promised>>): Promised =>
  (value) => {
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(fields).map(([name, promised]) => [name, promised(value[name])]));
  };

/** Each entry of a list. What is no list, such as null, stays as it is. */
export const each =
  (entry: Promised): Promised =>
  (value) =>
    Array.isArray(value) ? value.map(entry) : value;

/** `whole` for each of the names. */
export const named = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, whole]));

/** A resource whose fields are not shown: every resource is identified by a reference (2.1). */
export const referenceOnly = only(named("reference"));

/** The query of a list with pages (4.11). */
export const pages = { cursor: () => z.optional(z.string()) };

/** The smallest quantity is not shown. */
export const quantity = ({ smallestQuantity }: Pick<EmulatorAssumptions, "smallestQuantity">) =>
  z.int().check(z.gte(smallestQuantity));

/** "An order has one or more orderlines" (1). Assumed for claimlines, too. */
export const lines = (line: z.ZodMiniType) =>
  z.array(line).check(z.minLength(1, { error: "expected at least one line" }));
