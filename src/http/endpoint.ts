import * as z from "zod/mini";
import type { Download, NotModified } from "../binary/download.ts";
import type { Issue } from "../errors/validation.ts";
import type { Reference, ReferenceKind } from "../references/references.ts";
import { array, type Schema } from "../schemas/shape.ts";

/** The HTTP methods that `partner.request` sends. After a lost response GET, PUT and DELETE are retried, the others are not. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The rate-limit policies that the specification names (part 8). The headers of a response may name others. */
export type Policy = "default" | "uploads" | "downloads";

/**
 * Whether a request may be sent again after its response was lost.
 *
 * - `safe`: yes, it only reads.
 * - `idempotent`: yes, a second request has no further effect.
 * - `recoverable`: only after a look-up has shown that the first request created nothing.
 * - `never`: no, and no look-up can show whether the first request was carried out.
 */
export type Repeat = "safe" | "idempotent" | "recoverable" | "never";

/** The body of a request. A JSON body has exactly one field, with the name of its content: `{ "order": … }`. */
export type RequestShape<Given> =
  | { readonly kind: "none"; readonly given?: (value: Given) => void }
  | { readonly kind: "image"; readonly given?: (value: Given) => void }
  | {
      readonly kind: "json";
      readonly field: string;
      readonly schema: Schema;
      readonly given?: (value: Given) => void;
    };

/** The body of a response. A resource or a list is in a field of its name (specification 1, Conventions). */
export type ResponseShape<Data> =
  | { readonly kind: "empty"; readonly data?: Data }
  | { readonly kind: "binary"; readonly data?: Data }
  | {
      readonly kind: "whole";
      readonly schema: Schema;
      /** Whether the body may be absent. */
      readonly optional?: boolean;
      readonly data?: Data;
    }
  | {
      readonly kind: "field";
      readonly field: string;
      readonly schema: Schema;
      /** Whether the data is a list without pages. */
      readonly list?: boolean;
      /** For a field whose name the specification does not show: how to find the data in a response without that field. */
      readonly assumed?: (body: unknown) => unknown;
      /** Whether a body says that there is no data; `undefined` stands for an empty body. */
      readonly saysNone?: (body: unknown) => boolean;
      readonly data?: Data;
    }
  | {
      readonly kind: "page";
      readonly field: string;
      readonly item: Schema;
      readonly items: Schema;
      readonly data?: Data;
    };

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
  /** As the specification writes it. The value of `{orderReference}` must be a reference of kind Order. */
  readonly path: string;
  readonly query: QueryShape;
  readonly request: RequestShape<never>;
  readonly response: ResponseShape<Data>;
  /** The buckets that a request draws a token from (specification 8). */
  readonly policies: readonly Policy[];
  readonly repeat: Repeat;
  /** Returns a warning about a valid body that is unlikely to be meant. The client shows it once. */
  readonly warningFor?: ((body: unknown) => string | undefined) | undefined;
  /** For the compiler only. */
  readonly input?: (input: Input) => void;
}

/** The endpoint as the specification writes it: `POST /orders`. */
export function nameOf({ method, path }: Pick<Endpoint, "method" | "path">): string {
  // The path of `partner.request` is the caller's: the name is shown in logs, without its query and references.
  const shown = /[?_]/.test(path) ? path.replace(/\?.*$/s, "").replace(/[A-Z][a-z]+_\w{26}/g, "{reference}") : path;
  return `${method} ${shown}`;
}

/** The input of an endpoint: path parameters, query parameters, and the content of the body's one field. */
export interface EndpointInput {
  readonly path?: Readonly<Record<string, string>>;
  /** A whole URL from the service, used instead of the path. Its origin is checked before the request is sent. */
  readonly url?: string | URL;
  readonly query?: object;
  /** The cursor of the rest of a list without pages, if its response has one. */
  readonly cursor?: string | undefined;
  readonly body?: unknown;
  /** Faults that the method itself found; they are reported together with the others. */
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
        readonly [Field in keyof Query]?: Query[Field] extends Schema<infer Value> ? Value | undefined : never;
      };
    };
type BodyInput<Given> = [Given] extends [never] ? unknown : { readonly body: Given };

/** The exact input type of one endpoint: no other query parameters, and a body only if the endpoint has one. */
type CallInput<Path extends string, Query, Given> = Pick<EndpointInput, "url" | "faults" | "cursor"> &
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
  readonly warningFor?: (body: unknown) => string | undefined;
}

/** Describes an endpoint. Without `policies` it draws only from `default`. */
export function endpoint<
  const Path extends string,
  Data,
  Given = never,
  Query extends QueryShape = Record<never, never>,
>(specification: Specification<Path, Query, Given, Data>): Endpoint<CallInput<Path, Query, Given>, Data> {
  return { query: {}, request: { kind: "none" }, policies: ["default"], ...specification };
}

/** A JSON body of one field. `Given` is the caller's type, before the schema's defaults. */
export const json = <Given>(field: string, schema: Schema): RequestShape<Given> => ({ kind: "json", field, schema });

/** A resource, or a list without pages, in its field. */
export const field = <Data>(name: string, schema: Schema<Data>): Extract<ResponseShape<Data>, { kind: "field" }> => ({
  kind: "field",
  field: name,
  schema,
});

/**
 * A response whose field the specification does not show: the name follows its conventions. In a response without that field,
 * `elsewhere` finds the data. Default: the whole body is the data.
 */
export const assumed = <Data>(
  shape: Extract<ResponseShape<Data>, { kind: "field" }>,
  elsewhere: (body: unknown) => unknown = (body) => body,
): typeof shape => ({ ...shape, assumed: elsewhere });

/** A list without pages, in its plural field. */
export const list = <Item>(name: string, item: Schema<Item>) => ({
  ...field<readonly Item[]>(name, () => array(item())),
  list: true,
});

/** A page of a list: its plural field, and `nextCursor`. */
export const page = <Item>(name: string, item: Schema<Item>): ResponseShape<ListPage<Item>> => ({
  kind: "page",
  field: name,
  item,
  items: () => array(item()),
});

/** Bytes; for a conditional request, possibly `NotModified`. */
export const binary: ResponseShape<Download | NotModified> = { kind: "binary" };

/** No body. */
export const nothing: ResponseShape<void> = { kind: "empty" };

/** The query of every paginated list. */
export const cursor = { cursor: () => z.optional(z.string()) };
