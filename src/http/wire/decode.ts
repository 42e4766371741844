import { fileFault } from "../../binary/file-response.ts";
import { firstIssues, type Issue, mostIssues, ResponseValidationError, unchecked } from "../../errors/validation.ts";
import { check } from "../../schemas/check.ts";
import { isRecord } from "../../schemas/type-guards.ts";
import { type Endpoint, nameOf, type ResponseShape } from "../endpoint/endpoint.ts";
import type { Arrival } from "./exchange.ts";
import { parseJson, type Redact, snapshot } from "./redact.ts";

/** What happens to a response that breaks its schema: `throw` throws an error, `report` returns the response unchanged and reports it. */
export type ResponseMode = "throw" | "report";

interface Decoding {
  readonly mode: ResponseMode;
  readonly redact: Redact;
  readonly onInvalid: (status: number, issues: readonly Issue[]) => void;
}

type JsonShape = Exclude<ResponseShape<unknown>, { kind: "binary" }>;

/** The data of a response, and its faults. */
interface Reading {
  readonly data: unknown;
  readonly issues: readonly Issue[];
  /** Whether the data is incomplete, so that a list would end early without an error. */
  readonly incomplete?: boolean;
  /** The cursor of the rest of a list without pages. */
  readonly nextCursor?: string;
}

const notACursor: Issue = { path: ["nextCursor"], message: "expected a string or null" };
const missing = (path: Issue["path"]): Issue => ({ path, message: "is missing" });

/** Checks data against a schema and returns the data itself, so that unknown fields are kept. */
function checked(schema: Parameters<typeof check>[0], data: unknown, path: Issue["path"]): Reading {
  const result = check(schema, data, path);
  return { data, issues: result.ok ? [] : result.issues };
}

function readPage(body: unknown, shape: Extract<JsonShape, { kind: "page" }>): Reading {
  const fields = isRecord(body) ? body : {};
  const items = fields[shape.field];
  const nextCursor = fields.nextCursor;
  const issues: Issue[] = [];
  if (Array.isArray(items)) {
    for (const [index, item] of items.entries()) {
      issues.push(...checked(shape.item, item, [shape.field, index]).issues);
      const left = items.length - index - 1;
      if (issues.length < mostIssues || left === 0) continue;
      issues.push(unchecked([shape.field], left));
      break;
    }
  } else {
    issues.push({ path: [shape.field], message: "expected an array" });
  }
  if (nextCursor !== null && typeof nextCursor !== "string") {
    issues.push(nextCursor === undefined ? missing(["nextCursor"]) : notACursor);
  }
  const data = {
    items: Array.isArray(items) ? items : [],
    nextCursor: typeof nextCursor === "string" ? nextCursor : null,
  };
  return { data, issues, incomplete: data.items !== items || data.nextCursor !== nextCursor };
}

const mayBeEmpty = (shape: JsonShape): boolean =>
  shape.kind === "empty" || (shape.kind === "whole" && !!shape.optional);

function read(body: unknown, shape: JsonShape): Reading {
  // The body is ignored: a later version of the service may send one.
  if (shape.kind === "empty") return { data: undefined, issues: [] };
  if (shape.kind === "page") return readPage(body, shape);
  if (shape.kind === "whole") return checked(shape.schema, body, []);
  if (isRecord(body) && Object.hasOwn(body, shape.field)) {
    const reading = checked(shape.schema, body[shape.field], [shape.field]);
    return shape.list ? withCursor(reading, body.nextCursor) : reading;
  }
  if (shape.assumed !== undefined) return checked(shape.schema, shape.assumed(body), [shape.field]);
  return { data: body, issues: [missing([shape.field])] };
}

/** Every list may be "returned together with `nextCursor`" (specification 1, Conventions), also one that has no pages. */
function withCursor({ data, issues }: Reading, nextCursor: unknown): Reading {
  if (nextCursor === undefined || nextCursor === null) return { data, issues };
  if (typeof nextCursor === "string") return { data, issues, nextCursor };
  return { data, issues: [...issues, notACursor], incomplete: true };
}

/** Reads the data of a response, and checks it against the endpoint's schema. */
export function decode(
  endpoint: Endpoint,
  arrival: Arrival,
  { mode, redact, onInvalid }: Decoding,
): Pick<Reading, "data" | "nextCursor"> {
  const { response, text, download } = arrival;
  if (download !== undefined) return { data: download };
  if (endpoint.response.kind === "binary") {
    const issues = [{ path: [], message: redact(fileFault(response) ?? "expected a file") }];
    onInvalid(response.status, issues);
    throw invalid(endpoint, arrival, issues, redact);
  }
  if (text === "" && mayBeEmpty(endpoint.response)) return { data: undefined };
  const json = parseJson(text);
  const reading = json.ok
    ? read(json.value, endpoint.response)
    : { data: undefined, issues: [{ path: [], message: text === "" ? "the body is empty" : "the body is not JSON" }] };
  if (reading.issues.length === 0) return reading;
  const issues = reading.issues.map((issue) => redactIssue(issue, redact));
  onInvalid(response.status, firstIssues(issues));
  if (json.ok && mode === "report" && !reading.incomplete) return reading;
  throw invalid(endpoint, arrival, issues, redact);
}

/** Redacts an issue: the message of a caller's own schema may contain the unexpected value. */
const redactIssue = ({ path, message, ...unchecked }: Issue, redact: Redact): Issue => ({
  ...unchecked,
  path: path.map((part) => (typeof part === "string" ? redact(part) : part)),
  message: redact(message),
});

const invalid = (endpoint: Endpoint, { response, text }: Arrival, issues: readonly Issue[], redact: Redact) =>
  new ResponseValidationError({
    issues,
    response: snapshot(response.status, response.headers, text, redact),
    endpoint: nameOf(endpoint),
  });
