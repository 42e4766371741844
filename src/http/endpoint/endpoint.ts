import * as z from "zod/mini";
import type { Download, NotModified } from "../../binary/download.ts";
import type { Issue } from "../../errors/validation.ts";
import type { Reference, ReferenceKind } from "../../references/references.ts";
import type { Schema } from "../../schemas/shape.ts";

/** The methods of HTTP that `partner.request` sends. After a lost answer GET, PUT and DELETE are repeated, the others are not. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The rate-limit policies that the specification names (part 8). The live headers may bring others. */
export type Policy = "default" | "uploads" | "downloads";

/**
 * What a lost answer means for an endpoint, and so whether its request may be sent again.
 *
 * - `safe`: it only reads.
 * - `idempotent`: doing it twice is the same as once.
 * - `recoverable`: it creates, and a look-up can tell whether it did.
 * - `unsafe`: it may have happened, and nothing can tell.
 */
export type Repeat = "safe" | "idempotent" | "recoverable" | "never";

/** What a request carries. A JSON body has exactly one field, named for what it carries: `{ "order": … }`. */
export type RequestShape<Given> =
  | { readonly kind: "none"; readonly given?: (value: Given) => void }
  | { readonly kind: "image"; readonly given?: (value: Given) => void }
  | {
      readonly kind: "json";
      readonly field: string;
      readonly schema: Schema;
      readonly given?: (value: Given) => void;
    };

/** What an endpoint answers. A resource and a list stand under a field named for them (specification 1, Conventions). */
export type ResponseShape<Data> =
  | { readonly kind: "empty"; readonly data?: Data }
  | { readonly kind: "binary"; readonly data?: Data }
  | {
      readonly kind: "whole";
      readonly schema: Schema;
      /** Whether there may be no body at all. */
      readonly optional?: boolean;
      readonly data?: Data;
    }
  | {
      readonly kind: "field";
      readonly field: string;
      readonly schema: Schema;
      /** Where the field's name is not shown: how the data is found in an answer that does not have it. */
      readonly assumed?: (body: unknown) => unknown;
      readonly data?: Data;
    }
  | { readonly kind: "page"; readonly field: string; readonly item: Schema; readonly data?: Data };

/** One page of a paginated list (specification 4.11). */
export interface ListPage<Item> {
  /** May be empty on any page, the last one included. */
  readonly items: readonly Item[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

/** The schemas of the query parameters, by name. */
export type QueryShape = Readonly<Record<string, Schema>>;

/** An endpoint of the service as data: all that the client, the emulator and the tests know about it. */
export interface Endpoint<Input = never, Data = unknown> {
  /** The method of the client that calls it, for example `orders.create`. */
  readonly call: string;
  readonly method: Method;
  /** As the specification writes it. A `{orderReference}` in it is checked to be a reference of kind Order. */
  readonly path: string;
  readonly query: QueryShape;
  readonly request: RequestShape<never>;
  readonly response: ResponseShape<Data>;
  /** The buckets that a request draws a token from (specification 8). */
  readonly policies: readonly Policy[];
  readonly repeat: Repeat;
  /** For the compiler only. */
  readonly input?: (input: Input) => void;
}

/** The endpoint as the specification writes it: `POST /orders`. */
export const nameOf = ({ method, path }: Pick<Endpoint, "method" | "path">): string => `${method} ${path}`;

/** What a call gives an endpoint: path parameters, query parameters, and the content of the body's one field. */
export interface EndpointInput {
  readonly path?: Readonly<Record<string, string>>;
  /** A whole URL that the service gave out, instead of the path. Whoever sets it has checked its origin. */
  readonly url?: string;
  readonly query?: object;
  readonly body?: unknown;
  /** What the method itself found wrong: told with the rest. */
  readonly faults?: readonly Issue[];
}

type ParameterName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterName<Rest>
  : never;
type Parameter<Name extends string> = Name extends `${infer Kind}Reference`
  ? Reference<Capitalize<Kind> & ReferenceKind>
  : string;
type PathInput<Path extends string> = string extends Path
  ? unknown
  : [ParameterName<Path>] extends [never]
    ? unknown
    : { readonly path: { readonly [Name in ParameterName<Path>]: Parameter<Name> } };
type QueryInput<Query> = [keyof Query] extends [never]
  ? unknown
  : {
      readonly query?: {
        readonly [Field in keyof Query]?: Query[Field] extends Schema<infer Value> ? Value : never;
      };
    };
type BodyInput<Given> = [Given] extends [never] ? unknown : { readonly body: Given };

/** What a call of one endpoint must and may give: no other query parameter, no body where there is none. */
type CallInput<Path extends string, Query, Given> = Pick<EndpointInput, "url" | "faults"> &
  PathInput<Path> &
  QueryInput<Query> &
  BodyInput<Given>;

interface Specification<Path extends string, Query extends QueryShape, Given, Data> {
  readonly call: string;
  readonly method: Method;
  readonly path: Path;
  readonly query?: Query;
  readonly request?: RequestShape<Given>;
  readonly response: ResponseShape<Data>;
  readonly policies?: readonly Policy[];
  readonly repeat: Repeat;
}

/** Describes an endpoint. Without `policies` it draws from `default` alone. */
export function endpoint<
  const Path extends string,
  Data,
  Given = never,
  Query extends QueryShape = Record<never, never>,
>(specification: Specification<Path, Query, Given, Data>): Endpoint<CallInput<Path, Query, Given>, Data> {
  return { query: {}, request: { kind: "none" }, policies: ["default"], ...specification };
}

/** A JSON body of one field. `Given` is what the caller gives for it, before the schema's defaults. */
export const json = <Given>(field: string, schema: Schema): RequestShape<Given> => ({ kind: "json", field, schema });

/** A resource, or a list that has no pages, under its field. */
export const field = <Data>(name: string, schema: Schema<Data>): Extract<ResponseShape<Data>, { kind: "field" }> => ({
  kind: "field",
  field: name,
  schema,
});

/**
 * A response whose field is not shown in the specification: named by its conventions. In an answer without that field the data is
 * found by `elsewhere`; without it, the answer is taken whole.
 */
export const assumed = <Data>(
  shape: Extract<ResponseShape<Data>, { kind: "field" }>,
  elsewhere: (body: unknown) => unknown = (body) => body,
): ResponseShape<Data> => ({ ...shape, assumed: elsewhere });

/** A list without pages, under its plural field. */
export const list = <Item>(name: string, item: Schema<Item>) => field<readonly Item[]>(name, () => z.array(item()));

/** A page of a list, under its plural field, beside `nextCursor`. */
export const page = <Item>(name: string, item: Schema<Item>): ResponseShape<ListPage<Item>> => ({
  kind: "page",
  field: name,
  item,
});

/** Bytes; or, to a conditional request, that nothing has changed. */
export const binary: ResponseShape<Download | NotModified> = { kind: "binary" };

/** No body. */
export const nothing: ResponseShape<void> = { kind: "empty" };

/** The query of every paginated list. */
export const cursor = { cursor: () => z.optional(z.string()) };
