import * as z from "zod/mini";
import { type Issue, maxIssues, unchecked } from "../errors/validation.ts";
import { endpoint, type Method, type Repeat } from "../http/endpoint.ts";
import type { RequestOptions } from "../http/request-options.ts";
import type { ApiCall, Send } from "../http/send.ts";
import { addIssue, type Schema } from "../schemas/shape.ts";
import { splitFields } from "../util/fields.ts";
import { isFunction, isThenable, propertyOf } from "../util/foreign.ts";

/** The part of Standard Schema (standardschema.dev) that the SDK uses. Schemas of zod, valibot and arktype implement it. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The result of a Standard Schema: the checked value, or its issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** Options of a request to any endpoint. `query` and `body` are the whole content of the request. */
export interface AnyRequestOptions<Data> extends RequestOptions {
  /** Checks the JSON of the response: a schema of zod, or of any library that follows Standard Schema. Default: no check. */
  readonly schema?: StandardSchema<Data> | undefined;
}

const repeats: Readonly<Record<Method, Repeat>> = {
  GET: "safe",
  PUT: "idempotent",
  DELETE: "idempotent",
  PATCH: "never",
  POST: "never",
};

/** Converts a Standard Schema to the SDK's kind of schema, so that the response is decoded like all others. */
const toSchema = <Data>(standard: StandardSchema<Data> | undefined): Schema<Data> => {
  const anything = z.custom<Data>();
  if (standard === undefined) return () => anything;
  return () =>
    anything.check((context) => {
      const result = standard["~standard"].validate(context.value);
      if (isThenable(result)) {
        Promise.resolve(result).catch(() => undefined);
        throw new TypeError("the schema is asynchronous, which is not supported: use one that checks synchronously");
      }
      const issues = result.issues ?? [];
      for (const { message, path } of issues.slice(0, maxIssues)) {
        const keys = (path ?? []).map((part) => (typeof part === "object" ? part.key : part));
        addIssue(context, { path: keys, message: String(message) });
      }
      const left = issues.length - maxIssues;
      if (left > 0) addIssue(context, unchecked([], left));
    });
};

const isStandard = (schema: unknown): boolean => isFunction(propertyOf(propertyOf(schema, "~standard"), "validate"));

const isMethod = (method: unknown): method is Method => typeof method === "string" && Object.hasOwn(repeats, method);

function faultsOf(method: unknown, path: unknown, schema: unknown): Issue[] {
  const issues: Issue[] = [];
  if (schema !== undefined && !isStandard(schema))
    issues.push({
      path: ["schema"],
      message: "expected a schema of zod, or of any library that follows Standard Schema",
    });
  if (!isMethod(method))
    issues.push({ path: ["method"], message: `expected one of ${Object.keys(repeats).join(", ")}` });
  if (typeof path !== "string") return [...issues, { path: ["path"], message: 'expected a path such as "/orders"' }];
  if (!path.startsWith("/") || path.startsWith("//") || !isUnchanged(path))
    issues.push({
      path: ["path"],
      message:
        'expected a path such as "/orders": URL-encoded, without "." or ".." segments, and without a query: use the option `query`',
    });
  return issues;
}

/** Encodes braces, which would be parameters in a path template. */
const withoutBraces = (path: string): string => path.replaceAll("{", "%7B").replaceAll("}", "%7D");

/** Whether the URL parser leaves a path unchanged: it removes some characters and segments, and encodes other characters. */
function isUnchanged(path: string): boolean {
  const written = withoutBraces(path);
  const { pathname, search, hash } = new URL(`http://path${written}`);
  return pathname + search + hash === written && !/[?#]/.test(path);
}

/** Sends a request to any path under the base URL. */
export function requestAny<Data>(
  send: Send,
  method: Method,
  path: string,
  given: AnyRequestOptions<Data>,
): ApiCall<Data> {
  const [{ schema }, options] = splitFields(given, "schema");
  // An invalid method or path is reported with all other faults.
  const text = typeof path === "string" ? path : "";
  const known: Method = isMethod(method) ? method : "GET";
  const any = endpoint<string, Data>({
    // Each path may have its own rate-limit policies.
    call: `request ${known} ${text}`,
    method: known,
    path: withoutBraces(text),
    response: { kind: "whole", schema: toSchema(schema), optional: true },
    repeat: repeats[known],
  });
  return send(any, { faults: faultsOf(method, path, schema) }, options);
}
