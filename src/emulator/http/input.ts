import { isImage, signatureLength } from "../../binary/picture.ts";
import type { Issue } from "../../errors/validation.ts";
import { kindOfParameter } from "../../http/request.ts";
import { referenceFault } from "../../references/references.ts";
import { lookupOrder } from "../../resources/orders/orders.endpoints.ts";
import { assumptions } from "../../schemas/assumptions.ts";
import { type Checked, check } from "../../schemas/check.ts";
import type { Schema } from "../../schemas/shape.ts";
import { onAbort, reasonOf, throwIfAborted } from "../../util/abort-signals.ts";
import { bodyRecorderOf } from "../base/messages.ts";
import { Problem, type ProblemCode } from "../base/problem.ts";
import type { EmulatorAssumptions } from "../settings/assumed.ts";
import type { BodySchema, Route } from "./route.ts";

/** Yields the pieces of a request's body as they arrive. Throws at once when the request is aborted. */
async function* piecesOf(request: Request): AsyncGenerator<Uint8Array> {
  const recorder = bodyRecorderOf(request);
  const reader = request.body?.getReader();
  if (reader === undefined) return;
  throwIfAborted(request.signal);
  const cancel = (reason: unknown) => void reader.cancel(reason).catch(() => {});
  const stopListening = onAbort(request.signal, cancel);
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      recorder?.(piece.value);
      yield piece.value;
    }
    throwIfAborted(request.signal);
  } finally {
    stopListening();
    cancel(reasonOf(request.signal));
  }
}

/** The size of the largest body that is kept in memory, in bytes. */
const largest = 32 * 2 ** 20;

/** Reads a body into memory. Refuses a body of more than `limit` bytes as soon as its pieces are too large. */
export async function collect(pieces: AsyncIterable<Uint8Array>, limit = largest): Promise<Uint8Array<ArrayBuffer>> {
  const kept: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.byteLength;
    if (size > limit) throw new Problem("unknown_input_error", `The body must have at most ${limit} bytes`);
    kept.push(piece);
  }
  return new Uint8Array(Buffer.concat(kept));
}

/** Refuses a request whose body has another media type. */
function requireType(request: Request, wanted: string): void {
  const given = request.headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase();
  if (given === wanted) return;
  throw new Problem("unknown_input_error", `The Content-Type must be ${wanted}; got ${given ?? "none"}`);
}

/** Throws on invalid UTF-8, and keeps a byte order mark, which JSON does not allow (RFC 8259, 8.1). */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the body as JSON. */
export async function readJson(request: Request, limit?: number): Promise<unknown> {
  requireType(request, "application/json");
  const bytes = await collect(piecesOf(request), limit);
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new Problem("unknown_input_error", "The body must be JSON in UTF-8");
  }
}

/** Yields the pieces of a JPEG or PNG body. Checks its first bytes. */
export async function* readImage(request: Request): AsyncGenerator<Uint8Array> {
  requireType(request, "application/octet-stream");
  let head = Buffer.alloc(0);
  for await (const piece of piecesOf(request)) {
    if (head.length < signatureLength) {
      head = Buffer.concat([head, piece.subarray(0, signatureLength)]);
      if (head.length >= signatureLength && !isImage(head)) break;
    }
    yield piece;
  }
  if (!isImage(head)) throw new Problem("unknown_input_error", "The body must be a JPEG or a PNG");
}

/** Refuses a body with content, for an endpoint without one. An object without fields passes: it has no undocumented field. */
async function refuseContent(request: Request, { contentWithoutBody }: EmulatorAssumptions): Promise<void> {
  const content = Buffer.from(await collect(piecesOf(request))).toString();
  if (contentWithoutBody === "refuse" && !["", "{}"].includes(content.replaceAll(/\s/g, "")))
    throw new Problem("unknown_input_error", "The endpoint takes no body");
}

const valueAt = (value: unknown, path: Issue["path"]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

/** The error code of an issue (specification 7). Most issues are `unknown_input_error`. */
function codeOf({ path }: Issue, body: unknown): ProblemCode {
  const value = valueAt(body, path) ?? "";
  const isMissing = typeof value === "string" && value.trim() === "";
  const isCombined = valueAt(body, [...path.slice(0, -1), "shippingKind"]) === "combined";
  if (isMissing && path.slice(-2).join(".") === "dropshipAddress.email") return "invalid_address_missing_email";
  if (isMissing && path.at(-1) === "dropshipAddress" && !isCombined) return "missing_address";
  return "unknown_input_error";
}

/** Returns the checked value, or throws. A specific code is used only when no other issue is an `unknown_input_error`. */
function valid(checked: Checked, body?: unknown): unknown {
  if (checked.ok) return checked.value;
  const faults = checked.issues.map((issue) => ({ issue, code: codeOf(issue, body) }));
  const fault = faults.find(({ code }) => code === "unknown_input_error") ?? faults[0];
  const message = checked.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  throw new Problem(fault?.code ?? "unknown_input_error", message);
}

/** Stands for the name that the routes use, where the service is assumed to use another. */
const otherName = "~";

/** The query of the look-up by custom identifier, whose parameter is not shown (4.12), under the name that the routes use. */
function renamed(given: URLSearchParams, { customIdentifierParameter }: EmulatorAssumptions): URLSearchParams {
  const { customIdentifierParameter: name } = assumptions;
  if (customIdentifierParameter === name) return given;
  const query = new URLSearchParams();
  for (const [key, value] of given) {
    // The name of the routes is as unknown as any other.
    const unknown = key === name ? otherName : key;
    query.append(key === customIdentifierParameter ? name : unknown, value);
  }
  return query;
}

/** The schemas of bodies that were used so far: each is built once for what one emulator assumes. */
const schemas = new WeakMap<EmulatorAssumptions, Map<BodySchema, Schema>>();

function schemaOf(body: BodySchema, assumed: EmulatorAssumptions): Schema {
  const known = schemas.get(assumed) ?? new Map<BodySchema, Schema>();
  schemas.set(assumed, known);
  const schema = known.get(body) ?? (() => body(assumed));
  known.set(body, schema);
  return schema;
}

/** Checks the references in a path. */
export function checkPath(path: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(path)) {
    const kind = kindOfParameter(name);
    const fault = kind === undefined ? undefined : referenceFault(kind, value);
    if (fault !== undefined) throw new Problem("unknown_input_error", `${name}: ${fault}`);
  }
}

/** Reads the query. Refuses unknown and repeated parameters. */
export function readQuery(
  { query: parameters = {}, endpoint }: Pick<Route, "query" | "endpoint">,
  written: URLSearchParams,
  assumed: EmulatorAssumptions,
): Readonly<Record<string, unknown>> {
  const given = endpoint.call === lookupOrder.call ? renamed(written, assumed) : written;
  const { customIdentifierParameter: own } = assumptions;
  for (const name of new Set(given.keys())) {
    if (!Object.hasOwn(parameters, name) && assumed.unknownParameters === "ignore") continue;
    if (!Object.hasOwn(parameters, name))
      throw new Problem("unknown_input_error", `${name === otherName ? own : name}: unknown parameter`);
    if (given.getAll(name).length > 1) throw new Problem("unknown_input_error", `${name}: given more than once`);
  }
  return Object.fromEntries(
    Object.entries(parameters).map(([name, schema]) => [
      name,
      valid(check(schema, given.get(name) ?? undefined, [name])),
    ]),
  );
}

/** Reads a JSON body. It must have the endpoint's field and no other field. An endpoint without a body takes no content. */
export async function readBody(
  { endpoint, body: content }: Route,
  request: Request,
  assumed: EmulatorAssumptions,
): Promise<unknown> {
  if (endpoint.request.kind === "none") await refuseContent(request, assumed);
  if (endpoint.request.kind !== "json") return undefined;
  const { field } = endpoint.request;
  const body = await readJson(request);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Problem("unknown_input_error", `The body must be an object with the field ${field}`);
  }
  const unknown = Object.keys(body).filter((key) => key !== field);
  if (unknown.length > 0) throw new Problem("unknown_input_error", `Unknown fields: ${unknown.join(", ")}`);
  if (content === undefined) throw new TypeError(`The route of ${endpoint.call} declares no body`);
  return valid(check(schemaOf(content, assumed), valueAt(body, [field]), [field]), body);
}
