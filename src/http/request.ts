import { openImage, type Upload, type UploadOpening } from "../binary/source.ts";
import { type Issue, RequestValidationError } from "../errors/validation.ts";
import { type ReferenceKind, referenceFault } from "../references/references.ts";
import { check } from "../schemas/check.ts";
import { fieldsOf } from "../util/fields.ts";
import { attempt, isFieldObject, isRecord, tagOf, wordsOf } from "../util/foreign.ts";
import { type Endpoint, type EndpointInput, type Method, nameOf } from "./endpoint.ts";
import { headerEntries, type QueryValue, type RequestOptions } from "./request-options.ts";

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

/** Writes the parameters into a path template, each as one encoded segment, and adds their faults to `issues`. */
function expandPath(template: string, values: Readonly<Record<string, unknown>>, issues: Issue[]): string {
  const [start = "", ...parameters] = template.split("{");
  return parameters.reduce((path, parameter) => {
    const [name = "", rest = ""] = parameter.split("}");
    const value = values[name];
    const kind = kindOfParameter(name);
    const fault = kind === undefined ? segmentFault(value) : referenceFault(kind, value);
    if (fault !== undefined) issues.push({ path: [name], message: fault });
    return path + (fault === undefined ? encodeURIComponent(String(value)) : "") + rest;
  }, start);
}

/** A request as it is sent, without the secret key. */
export interface EncodedRequest {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Upload | undefined;
}

/** Adds the caller's extra fields to a JSON value: of an object by name, of a list by index. A field that was checked cannot be replaced. */
function extended(base: unknown, extra: unknown, path: Issue["path"], issues: Issue[]): unknown {
  if (base === undefined) return extra;
  if (Array.isArray(base) && Array.isArray(extra) && extra.length <= base.length)
    return base.map((value, index) => extended(value, extra[index] ?? value, [...path, index], issues));
  if (isRecord(base) && isRecord(extra)) {
    const fields = new Map(Object.entries(base));
    for (const [name, value] of Object.entries(extra))
      fields.set(name, extended(fields.get(name), value, [...path, name], issues));
    return Object.fromEntries(fields);
  }
  if (JSON.stringify(base) !== JSON.stringify(extra))
    issues.push({ path, message: "would replace a field of the call that was checked: change it there" });
  return base;
}

/** Encodes a query; without values it is empty. */
function encodeQuery(values: ReadonlyMap<string, QueryValue>): string {
  if (values.size === 0) return "";
  const query = new URLSearchParams();
  for (const [name, value] of values) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) query.append(name, String(one));
  }
  // Every parser decodes `%20` as a space; only form parsers decode `+` as a space.
  return query.toString().replaceAll("+", "%20");
}

function checkQuery({ query }: Endpoint, given: object | undefined, issues: Issue[]): Map<string, QueryValue> {
  const checked = new Map<string, QueryValue>();
  const fields = given === undefined ? {} : attempt(() => (isRecord(given) ? { ...given } : undefined));
  if (fields === undefined) {
    const names = Object.keys(query).map((name) => `\`${name}\``);
    issues.push({ path: [], message: `expected an object with ${names.join(", ")}` });
    return checked;
  }
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(query, name)) issues.push({ path: [name], message: "is not a known query parameter here" });
  }
  for (const [name, schema] of Object.entries(query)) {
    const parameter = check(schema, Reflect.get(fields, name), [name]);
    if (parameter.ok) checked.set(name, parameter.value as QueryValue);
    else issues.push(...parameter.issues);
  }
  return checked;
}

/** Whether code that walks through a value has overflowed the stack. */
const isTooDeep = (error: unknown): boolean => attempt(() => error instanceof RangeError) === true;

/** Throws for what JSON would leave out or write as something else, without an error. */
function assertJson(name: string, value: unknown): unknown {
  const refuse = (what: string) => {
    throw new Error(`${name || "it"} ${what}`);
  };
  if (typeof value === "number" && !Number.isFinite(value)) refuse(`is ${value}`);
  if (typeof value === "function" || typeof value === "symbol") refuse(`is a ${typeof value}`);
  if (Array.isArray(value) && value.includes(undefined)) refuse("has an element without a value");
  if (!isRecord(value)) return value;
  if (!isFieldObject(value)) refuse(`is ${tagOf(value)}`);
  // What a class computes, and what a prototype holds.
  const written = new Set(Object.keys(value));
  const hidden = Object.getOwnPropertyNames(fieldsOf(value)).find((field) => !written.has(field));
  if (hidden !== undefined)
    refuse(`has \`${hidden}\`, which JSON leaves out: add a \`toJSON\` to the class, or pass a plain object`);
  return value;
}

function encodeJson(
  { method, request }: Endpoint,
  given: unknown,
  extra: RequestOptions["body"],
  issues: Issue[],
): string | undefined {
  let body: Readonly<Record<string, unknown>> | undefined;
  if (request.kind === "json") {
    const checked = check(request.schema, given, [request.field]);
    if (checked.ok) body = { [request.field]: checked.value };
    else issues.push(...checked.issues);
  }
  if (extra !== undefined) {
    if (method === "GET") issues.push({ path: ["body"], message: "a GET request has no body: remove this option" });
    try {
      // A cycle or a `bigint` throws here, too, with a message that names it.
      const written: unknown = JSON.parse(JSON.stringify(extra, assertJson));
      return JSON.stringify(extended(body, written, ["body"], issues));
    } catch (error) {
      const reason = isTooDeep(error) ? "it is nested too deeply" : wordsOf(error).split("\n")[0];
      issues.push({ path: ["body"], message: `cannot be written as JSON: ${reason}` });
    }
  }
  return body === undefined ? undefined : JSON.stringify(body);
}

/** Advice for a URL of another origin: the service may keep its files there. */
const withoutKey = (url: URL | undefined): string =>
  url !== undefined && /^https?:$/.test(url.protocol) ? "; request this URL without the key: `fetch(url)`" : "";

/** Checks that a URL of the service has the base URL's origin, because the request carries the secret key. */
function checkUrl(baseUrl: string, given: unknown, issues: Issue[]): string {
  const { origin } = new URL(baseUrl);
  const url = attempt(() => String(given)) ?? "";
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The origin of `blob:https://host/` is that of the URL in it.
  if (parsed?.origin !== origin || !/^https?:$/.test(parsed.protocol)) {
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

const contentTypes = { none: "application/json", json: "application/json", image: "application/octet-stream" };

/** The input and the options of a call, and the faults that were found so far. */
export interface Draft {
  readonly baseUrl: string;
  readonly endpoint: Endpoint;
  readonly input: EndpointInput;
  readonly options: RequestOptions;
  readonly faults: readonly Issue[];
}

/** Checks a call's input against its endpoint and writes it as a request, or throws all faults at once. */
export function encode(draft: Draft): EncodedRequest {
  const { endpoint, input, options } = draft;
  const { url, issues } = encodeUrl(draft);
  return finish(draft, url, encodeJson(endpoint, input.body, options.body, issues), issues);
}

/** Like {@link encode}, for an upload: its source is opened first. */
export function encodeUpload(draft: Draft): UploadOpening<EncodedRequest> {
  const { url, issues } = encodeUrl(draft);
  if (draft.options.body !== undefined)
    issues.push({ path: ["body"], message: "an upload has no JSON body: remove this option" });
  const { made, close } = openImage(draft.input.body);
  const written = made.then((opened) => {
    if (typeof opened !== "string") return finish(draft, url, opened, issues);
    issues.push({ path: [], message: opened });
    return finish(draft, url, undefined, issues);
  });
  return { made: written, close };
}

function encodeUrl({ baseUrl, endpoint, input, options, faults }: Draft): {
  readonly url: string;
  readonly issues: Issue[];
} {
  const issues: Issue[] = [...faults, ...(input.faults ?? [])];
  const url =
    "url" in input
      ? checkUrl(baseUrl, input.url, issues)
      : baseUrl + expandPath(endpoint.path, input.path ?? {}, issues);
  const values = checkQuery(endpoint, input.query, issues);
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value === undefined) continue;
    if (Object.hasOwn(endpoint.query, name))
      issues.push({ path: ["query", name], message: "is a parameter of the call that is checked: pass it there" });
    values.set(name, value);
  }
  for (const [name, value] of values) {
    const isWritable = [value].flat().every((text) => typeof text !== "string" || text.isWellFormed());
    if (!isWritable) issues.push({ path: [name], message: "must not contain lone surrogates" });
  }
  if (input.cursor !== undefined) values.set("cursor", input.cursor);
  const query = encodeQuery(values);
  // A URL of the service may already have a query.
  return { url: query === "" ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`, issues };
}

function finish(
  { endpoint, options }: Draft,
  url: string,
  body: EncodedRequest["body"],
  issues: Issue[],
): EncodedRequest {
  if (issues.length > 0) throw new RequestValidationError({ issues, endpoint: nameOf(endpoint) });
  const { method, request, response } = endpoint;
  const headers: Record<string, string> =
    // The platform does not detect a truncated compressed download: it returns the part that it could decode.
    response.kind === "binary" ? { accept: "*/*", "accept-encoding": "identity" } : { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = contentTypes[request.kind];
  if (options.headers !== undefined) {
    for (const [name, value] of headerEntries(options.headers)) headers[name] = value;
  }
  return { method, url, headers, body };
}
