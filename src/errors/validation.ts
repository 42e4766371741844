import { inOneLine } from "../util/visible.ts";
import { forLog, PodPartnerError, shorten } from "./base.ts";
import { type ErrorResponse, htmlHint } from "./response.ts";

/** One issue of a value, with its path. */
export interface Issue {
  /** The path of the faulty value, for example `["order", "orderlines", 0, "quantity"]`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The maximum number of issues of an error. A list is not checked further when it has so many. */
export const mostIssues = 100;

/** Stands behind the issues of a list for its items that were not checked. */
export interface Unchecked extends Issue {
  readonly unchecked: number;
}

export const unchecked = (path: Issue["path"], items: number): Unchecked => ({
  path,
  message: `and ${items.toLocaleString("en")} more`,
  unchecked: items,
});

/** The maximum number of characters of the issues in a message, and of one issue. */
const longest = { text: 2_500, issue: 500 };

/** Writes a path as a developer would: `order.orderlines[0].quantity`. */
export const formatPath = (path: Issue["path"]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );

/** The first issues, without names and messages of any length. */
export const firstIssues = (issues: readonly Issue[]): readonly Issue[] =>
  issues.slice(0, mostIssues).map(({ path, message }) => ({
    path: path.map((part) => (typeof part === "string" ? shorten(part) : part)),
    message: shorten(message, longest.issue),
  }));

/** Writes each issue on a line of its own, with its path, as far as a message has room. The last line counts the others. */
export function listIssues(issues: readonly Issue[]): string {
  let text = "";
  let listed = 0;
  for (const { path, message } of firstIssues(issues)) {
    const line = `\n  ${path.length > 0 ? `${inOneLine(formatPath(path))}: ` : ""}${message}`;
    if (text.length + line.length > longest.text) break;
    text += line;
    listed += 1;
  }
  const more = issues
    .slice(listed)
    .reduce((sum, issue) => sum + ("unchecked" in issue ? Number(issue.unchecked) : 1), 0);
  return more === 0 ? text : `${text}\n  and ${more.toLocaleString("en")} more`;
}

/**
 * The input of a call breaks a rule of the specification. No request was sent. `issues` has each issue with its path, at most 100.
 *
 * It is also the error of a file that changes while it is uploaded: then a part of it was sent, and no complete request.
 */
export class RequestValidationError extends PodPartnerError {
  static override readonly kind: string = "RequestValidationError";
  readonly isRetryable = false;
  readonly issues: readonly Issue[];

  constructor(details: {
    issues: readonly Issue[];
    endpoint?: string;
    incomplete?: boolean;
    /** What is not valid, where that is not the input of a request. */
    value?: string;
  }) {
    const { issues, endpoint, incomplete, value } = details;
    const unsent = `${incomplete ? "No complete request" : "Nothing"} was sent${endpoint ? ` to ${shorten(endpoint)}` : ""}`;
    const what = value === undefined ? `${unsent}: the input` : `The ${value}`;
    super(`${what} is not valid.${listIssues(issues)}`);
    this.issues = firstIssues(issues);
  }

  override toJSON() {
    return { ...super.toJSON(), ...forLog({ issues: this.issues }) };
  }
}

/** An option of the client, the receiver or the emulator is missing, invalid or unknown. `issues` has each with its path, at most 100. */
export class ConfigurationError extends PodPartnerError {
  static override readonly kind: string = "ConfigurationError";
  readonly isRetryable = false;
  readonly issues: readonly Issue[];

  constructor({ issues }: { issues: readonly Issue[] }, whose = "client") {
    super(`The ${whose}'s options are not valid.${listIssues(issues)}`);
    this.issues = firstIssues(issues);
  }

  override toJSON() {
    return { ...super.toJSON(), ...forLog({ issues: this.issues }) };
  }
}

const unknownForm =
  "Install the newest version, or call the endpoint with `partner.request`, which returns the response as it is.";

/**
 * A response does not match the specification in what a decision or money hangs on (references, quantities, prices, cursors, strict enums),
 * or is not JSON. With `responses: "throw"`, any fault is this error. The SDK does not retry, because the service processed the request. For
 * a creation, a response that is not JSON counts as lost instead: the SDK looks the creation up, and sends it again if it is not found.
 *
 * `issues` has at most 100 issues: the rest of a list is not checked.
 */
export class ResponseValidationError extends PodPartnerError {
  static override readonly kind: string = "ResponseValidationError";
  readonly isRetryable = false;
  override readonly status: number;
  override readonly hint: string;
  readonly issues: readonly Issue[];
  readonly response: ErrorResponse;

  constructor({ issues, response, endpoint }: { issues: readonly Issue[]; response: ErrorResponse; endpoint: string }) {
    const hint = htmlHint(response) ?? unknownForm;
    const what = `The response to ${endpoint} (${response.status}) does not match the specification.`;
    super(`${what}${listIssues(issues)}\n  ${hint}`);
    this.status = response.status;
    this.hint = hint;
    this.issues = firstIssues(issues);
    this.response = response;
  }

  override toJSON() {
    return { ...super.toJSON(), ...forLog({ issues: this.issues, response: this.response }) };
  }
}
