import { fileFault } from "../../binary/file-response.ts";
import { type Issue, ResponseValidationError } from "../../errors/validation.ts";
import { check } from "../../schemas/check.ts";
import { isRecord } from "../../schemas/type-guards.ts";
import { type Endpoint, nameOf, type ResponseShape } from "../endpoint/endpoint.ts";
import type { Arrival } from "./exchange.ts";
import { parseJson, type Redact, snapshot } from "./redact.ts";

/** How an answer that breaks its schema is treated: an error, or returned as it came and reported. */
export type ResponseMode = "throw" | "report";

interface Decoding {
  readonly mode: ResponseMode;
  readonly redact: Redact;
  readonly onInvalid: (status: number, issues: readonly Issue[]) => void;
}

type JsonShape = Exclude<ResponseShape<unknown>, { kind: "binary" }>;

/** What was read, and what is wrong with it. */
interface Reading {
  readonly data: unknown;
  readonly issues: readonly Issue[];
  /** Whether what could be read would pass for less than was answered: a list would end early, and nobody would know. */
  readonly torn?: boolean;
}

const missing = (path: Issue["path"]): Issue => ({ path, message: "is missing" });

/** Unknown fields are kept because the answer itself is returned, not a copy of the parts that are known. */
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
    for (const [index, item] of items.entries()) issues.push(...checked(shape.item, item, [shape.field, index]).issues);
  } else {
    issues.push({ path: [shape.field], message: "expected a list" });
  }
  if (nextCursor !== null && typeof nextCursor !== "string") {
    issues.push(
      nextCursor === undefined
        ? missing(["nextCursor"])
        : { path: ["nextCursor"], message: "expected a string or null" },
    );
  }
  const data = {
    items: Array.isArray(items) ? items : [],
    nextCursor: typeof nextCursor === "string" ? nextCursor : null,
  };
  return { data, issues, torn: data.items !== items || data.nextCursor !== nextCursor };
}

const mayBeEmpty = (shape: JsonShape): boolean =>
  shape.kind === "empty" || (shape.kind === "whole" && !!shape.optional);

function read(body: unknown, shape: JsonShape): Reading {
  // A later version may have something to tell; a page that is no JSON comes from somewhere between, and tells nothing.
  if (shape.kind === "empty") return { data: undefined, issues: [] };
  if (shape.kind === "page") return readPage(body, shape);
  if (shape.kind === "whole") return checked(shape.schema, body, []);
  if (isRecord(body) && Object.hasOwn(body, shape.field))
    return checked(shape.schema, body[shape.field], [shape.field]);
  if (shape.assumed !== undefined) return checked(shape.schema, shape.assumed(body), [shape.field]);
  return { data: body, issues: [missing([shape.field])] };
}

/** Reads the data out of an answer, and checks it against the endpoint's schema. */
export function decode(endpoint: Endpoint, arrival: Arrival, { mode, redact, onInvalid }: Decoding): unknown {
  const { response, text, download } = arrival;
  if (download !== undefined) return download;
  if (endpoint.response.kind === "binary") {
    const issues = [{ path: [], message: redact(fileFault(response) ?? "expected a file") }];
    onInvalid(response.status, issues);
    throw invalid(endpoint, arrival, issues, redact);
  }
  if (text === "" && mayBeEmpty(endpoint.response)) return undefined;
  const json = parseJson(text);
  const reading = json.ok
    ? read(json.value, endpoint.response)
    : { data: undefined, issues: [{ path: [], message: text === "" ? "the body is empty" : "the body is no JSON" }] };
  if (reading.issues.length === 0) return reading.data;
  const issues = reading.issues.map((issue) => redactIssue(issue, redact));
  onInvalid(response.status, issues);
  if (json.ok && mode === "report" && !reading.torn) return reading.data;
  throw invalid(endpoint, arrival, issues, redact);
}

/** A schema of the caller's own may say in words what it did not expect. */
const redactIssue = ({ path, message }: Issue, redact: Redact): Issue => ({
  path: path.map((part) => (typeof part === "string" ? redact(part) : part)),
  message: redact(message),
});

const invalid = (endpoint: Endpoint, { response, text }: Arrival, issues: readonly Issue[], redact: Redact) =>
  new ResponseValidationError({
    issues,
    response: snapshot(response.status, response.headers, text, redact),
    endpoint: nameOf(endpoint),
  });
