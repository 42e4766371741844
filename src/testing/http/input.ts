import type { Issue } from "../../errors/validation.ts";
import type { Endpoint } from "../../http/endpoint/endpoint.ts";
import { kindOfParameter } from "../../http/endpoint/path.ts";
import { referenceFault } from "../../references/references.ts";
import { type Checked, check } from "../../schemas/check.ts";
import { readJson } from "./body.ts";
import { Problem, type ProblemCode } from "./problem.ts";

const valueAt = (value: unknown, path: Issue["path"]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

/** The faults of a body that have a code of their own (specification 7). All others are `unknown_input_error`. */
function codeOf({ path }: Issue, body: unknown): ProblemCode {
  const field = path.slice(-2).join(".");
  if (field === "dropshipAddress.email") return "invalid_address_missing_email";
  if (path.at(-1) === "dropshipAddress" && (valueAt(body, path) ?? undefined) === undefined) return "missing_address";
  return "unknown_input_error";
}

/** Gives the value of a check, or refuses: with a code of its own only when nothing else is wrong. */
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

/** Checks the query: known parameters only, each once. */
export function readQuery(endpoint: Endpoint, given: URLSearchParams): Readonly<Record<string, unknown>> {
  for (const name of new Set(given.keys())) {
    if (!Object.hasOwn(endpoint.query, name)) throw new Problem("unknown_input_error", `${name}: unknown parameter`);
    if (given.getAll(name).length > 1) throw new Problem("unknown_input_error", `${name}: given more than once`);
  }
  return Object.fromEntries(
    Object.entries(endpoint.query).map(([name, schema]) => [
      name,
      valid(check(schema, given.get(name) ?? undefined, [name])),
    ]),
  );
}

/** Checks a JSON body: one field, named by the endpoint, and nothing else. */
export async function readBody(endpoint: Endpoint, request: Request): Promise<unknown> {
  if (endpoint.request.kind !== "json") return undefined;
  const { field, schema } = endpoint.request;
  const body = await readJson(request);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Problem("unknown_input_error", `The body must be an object with the field ${field}`);
  }
  const unknown = Object.keys(body).filter((key) => key !== field);
  if (unknown.length > 0) throw new Problem("unknown_input_error", `Unknown fields: ${unknown.join(", ")}`);
  return valid(check(schema, valueAt(body, [field]), [field]), body);
}
