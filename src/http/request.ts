import { openImage, type Upload, type UploadOpening } from "../binary/source.ts";
import { type Issue, RequestValidationError } from "../errors/validation.ts";
import { type ReferenceKind, referenceFault } from "../references/references.ts";
import { check } from "../schemas/check.ts";
import { isPlainObject, isRecord } from "../schemas/type-guards.ts";
import { attempt, wordsOf } from "../util/foreign.ts";
import { type Endpoint, type EndpointInput, type Method, nameOf } from "./endpoint.ts";
import { headerEntries, type QueryValue, type RequestOptions } from "./request-options.ts";

const parameter = /\{(\w+)\}/g;

/** The reference kind of a path parameter, by its name: `orderReference` is a reference of kind Order. */
export function kindOfParameter(name: string): ReferenceKind | undefined {
  if (!name.endsWith("Reference")) return undefined;
  return (name.charAt(0).toUpperCase() + name.slice(1, -"Reference".length)) as ReferenceKind;
}

/** Control characters and lone surrogates cannot be written in a URL. */
const unwritable = /\p{Cc}|\p{Cs}/u;

function segmentFault(value: unknown): string | undefined {
  if (typeof value !== "string") return `expected a string; got ${value === null ? "null" : typeof value}`;
  if (value === "") return "must not be empty";
  if (value === "." || value === "..") return `"${value}" would change the path`;
  if (/[/\\]/.test(value)) return "must not contain a slash or a backslash";
  if (unwritable.test(value)) return "must not contain control characters or lone surrogates";
  return undefined;
}

/** The parts of each template: fixed text at even indexes, parameter names at odd indexes. */
const templates = new Map<string, readonly string[]>();

function partsOf(template: string): readonly string[] {
  let parts = templates.get(template);
  if (parts === undefined) {
    parts = template.split(parameter);
    templates.set(template, parts);
  }
  return parts;
}

/** Writes the parameters into a path template, each as one encoded segment, and adds their faults to `issues`. */
function expandPath(template: string, values: Readonly<Record<string, unknown>>, issues: Issue[]): string {
  if (!template.includes("{")) return template;
  const parts = partsOf(template);
  let path = parts[0] ?? "";
  for (let index = 1; index < parts.length; index += 2) {
    const name = parts[index] ?? "";
    const value = values[name];
    const kind = kindOfParameter(name);
    const fault = kind === undefined ? segmentFault(value) : referenceFault(kind, value);
    if (fault !== undefined) issues.push({ path: [name], message: fault });
    else path += encodeURIComponent(String(value));
    path += parts[index + 1] ?? "";
  }
  return path;
}

/** A request as it is sent, without the secret key. */
export interface EncodedRequest {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Upload | undefined;
}

type Tree = Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree => isPlainObject(value) && typeof value.toJSON !== "function";

/** Merges the caller's extra fields into a body. Objects are merged, other values are replaced, and undefined changes nothing. */
function merge(base: unknown, extra: Tree): Tree {
  const merged = new Map(isTree(base) ? Object.entries(base) : []);
  for (const [key, value] of Object.entries(extra)) {
    if (value !== undefined) merged.set(key, isTree(value) ? merge(merged.get(key), value) : value);
  }
  return Object.fromEntries(merged);
}

/** Encodes a query; without values it is empty. */
function encodeQuery(values: Readonly<Record<string, QueryValue>>): string {
  const entries = Object.entries(values);
  if (entries.length === 0) return "";
  const query = new URLSearchParams();
  for (const [name, value] of entries) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) query.append(name, String(one));
  }
  // Every parser decodes `%20` as a space; only form parsers decode `+` as a space.
  return query.toString().replaceAll("+", "%20");
}

function checkQuery({ query }: Endpoint, given: object | undefined, issues: Issue[]): Record<string, QueryValue> {
  // The caller chooses the names, and `__proto__` is a possible name.
  const checked: Record<string, QueryValue> = Object.create(null);
  const names = Object.keys(query).map((name) => `\`${name}\``);
  const fields = given === undefined ? {} : attempt(() => (isRecord(given) ? { ...given } : undefined));
  if (fields === undefined) {
    issues.push({ path: [], message: `expected an object with ${names.join(", ")}` });
    return checked;
  }
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(query, name)) issues.push({ path: [name], message: "is not a known query parameter here" });
  }
  for (const [name, schema] of Object.entries(query)) {
    const parameter = check(schema, Reflect.get(fields, name), [name]);
    if (parameter.ok) checked[name] = parameter.value as QueryValue;
    else issues.push(...parameter.issues);
  }
  return checked;
}

/** Whether code that walks through a value has overflowed the stack. */
const isTooDeep = (error: unknown): boolean => attempt(() => error instanceof RangeError) === true;

function encodeJson(
  { method, request }: Endpoint,
  given: unknown,
  extra: Tree | undefined,
  issues: Issue[],
): string | undefined {
  let body: Tree | undefined;
  if (request.kind === "json") {
    const checked = check(request.schema, given, [request.field]);
    if (checked.ok) body = { [request.field]: checked.value };
    else issues.push(...checked.issues);
  }
  if (extra !== undefined) {
    if (method === "GET") issues.push({ path: ["body"], message: "a GET request has no body: remove this option" });
    try {
      // A cycle or a `bigint` throws here with a message that names it.
      JSON.stringify(extra);
      return JSON.stringify(merge(body, extra));
    } catch (error) {
      const reason = isTooDeep(error) ? "it is nested too deeply" : wordsOf(error).split("\n")[0];
      issues.push({ path: ["body"], message: `cannot be written as JSON: ${reason}` });
    }
  }
  return body === undefined ? undefined : JSON.stringify(body);
}

/** What to do with a URL of another origin. It may be a place where the service keeps its files. */
const withoutKey = (url: URL | undefined): string =>
  url !== undefined && /^https?:$/.test(url.protocol) ? "; request this URL without the key: `fetch(url)`" : "";

/** Checks that a URL of the service has the base URL's origin, because the request carries the secret key. */
function checkUrl(baseUrl: string, given: unknown, issues: Issue[]): string {
  const { origin } = new URL(baseUrl);
  const url = attempt(() => String(given)) ?? "";
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.origin !== origin) {
    issues.push({
      path: ["url"],
      message: `expected a URL of ${origin}, because the secret key is sent to no other origin${withoutKey(parsed)}`,
    });
  } else if (parsed.username !== "" || parsed.password !== "") {
    issues.push({ path: ["url"], message: "must not contain credentials" });
  }
  // A fragment is not sent, and the query would become a part of it.
  return url.replace(/#.*$/s, "");
}

/** Adds a query to a URL, which may already have one. */
const withQuery = (url: string, query: string): string => {
  if (query === "") return url;
  return `${url}${url.includes("?") ? "&" : "?"}${query}`;
};

const contentTypes = { none: "application/json", json: "application/json", image: "application/octet-stream" };

/** Checks a call's input against its endpoint and encodes it as a request, or throws all faults at once. An upload is encoded asynchronously. */
export function encode(
  baseUrl: string,
  endpoint: Endpoint,
  input: EndpointInput,
  options: RequestOptions,
  faults: readonly Issue[],
): EncodedRequest | UploadOpening<EncodedRequest> {
  const issues: Issue[] = [...faults, ...(input.faults ?? [])];
  const path =
    "url" in input
      ? checkUrl(baseUrl, input.url, issues)
      : baseUrl + expandPath(endpoint.path, input.path ?? {}, issues);
  const query = encodeQuery({
    ...checkQuery(endpoint, input.query, issues),
    ...options.query,
    ...(input.cursor === undefined ? undefined : { cursor: input.cursor }),
  });
  const finish = (body: string | Upload | undefined): EncodedRequest => {
    if (issues.length > 0) throw new RequestValidationError({ issues, endpoint: nameOf(endpoint) });
    return {
      method: endpoint.method,
      url: withQuery(path, query),
      headers: encodeHeaders(endpoint, body, options),
      body,
    };
  };
  if (endpoint.request.kind !== "image") return finish(encodeJson(endpoint, input.body, options.body, issues));
  const { made, close } = openImage(input.body);
  const written = made.then((opened) => {
    if (!opened.ok) issues.push(...opened.issues);
    return finish(opened.ok ? opened.upload : undefined);
  });
  return { made: written, close };
}

function encodeHeaders(
  { request, response }: Endpoint,
  body: unknown,
  { headers: more }: RequestOptions,
): Record<string, string> {
  const headers: Record<string, string> =
    // The platform does not detect a truncated compressed download: it returns the part that it could decode.
    response.kind === "binary" ? { accept: "*/*", "accept-encoding": "identity" } : { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = contentTypes[request.kind];
  for (const [name, value] of more === undefined ? [] : headerEntries(more)) headers[name.toLowerCase()] = value;
  return headers;
}
