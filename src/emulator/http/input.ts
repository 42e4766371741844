import type { Issue } from "../../errors/validation.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { kindOfParameter } from "../../http/request.ts";
import { referenceFault } from "../../references/references.ts";
import { type Checked, check } from "../../schemas/check.ts";
import { Problem, type ProblemCode } from "../core/problem.ts";
import { readJson, refuseContent } from "./body.ts";
import { bodySchemas, querySchemas } from "./requests.schema.ts";

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

/** Checks the references in a path. */
export function checkPath(path: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(path)) {
    const kind = kindOfParameter(name);
    const fault = kind === undefined ? undefined : referenceFault(kind, value);
    if (fault !== undefined) throw new Problem("unknown_input_error", `${name}: ${fault}`);
  }
}

/** Reads the query. Refuses unknown and repeated parameters. */
export function readQuery({ call }: Endpoint, given: URLSearchParams): Readonly<Record<string, unknown>> {
  const parameters = querySchemas[call] ?? {};
  for (const name of new Set(given.keys())) {
    if (!Object.hasOwn(parameters, name)) throw new Problem("unknown_input_error", `${name}: unknown parameter`);
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
export async function readBody(endpoint: Endpoint, request: Request): Promise<unknown> {
  if (endpoint.request.kind === "none") await refuseContent(request);
  if (endpoint.request.kind !== "json") return undefined;
  const { field } = endpoint.request;
  const body = await readJson(request);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Problem("unknown_input_error", `The body must be an object with the field ${field}`);
  }
  const unknown = Object.keys(body).filter((key) => key !== field);
  if (unknown.length > 0) throw new Problem("unknown_input_error", `Unknown fields: ${unknown.join(", ")}`);
  const schema = bodySchemas[endpoint.call];
  if (schema === undefined) throw new TypeError(`requests.schema.ts has no body of ${endpoint.call}`);
  return valid(check(schema, valueAt(body, [field]), [field]), body);
}
