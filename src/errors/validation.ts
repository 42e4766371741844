import { inOneLine } from "../util/visible.ts";
import { forLog, PodPartnerError, shorten } from "./base.ts";
import { type ErrorResponse, htmlHint, loggedResponse } from "./response.ts";

/** One issue of a value, with its path. */
export interface Issue {
  /** The path of the faulty value, for example `["order", "orderlines", 0, "quantity"]`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Maximum number of issues of an error. The check of a list stops there. */
export const maxIssues = 100;

/** The last issue of a list: the number of items that were not checked. */
export const unchecked = (path: Issue["path"], items: number): Issue & { readonly unchecked: number } => ({
  path,
  message: `and ${items.toLocaleString("en")} more`,
  unchecked: items,
});

/** Maximum characters of all issues in a message, and of one issue. */
const maxCharacters = { text: 2_500, issue: 500 };

/** Writes a path as a developer would: `order.orderlines[0].quantity`. */
export const formatPath = (path: Issue["path"]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );

/** The first issues, with their names and messages truncated. */
export const firstIssues = (issues: readonly Issue[]): readonly Issue[] =>
  issues.slice(0, maxIssues).map(({ path, message }) => ({
    path: path.map((part) => (typeof part === "string" ? shorten(part) : part)),
    message: shorten(message, maxCharacters.issue),
  }));

/** Writes each issue with its path on its own line, as far as a message has room. The last line counts the others. */
export function listIssues(issues: readonly Issue[]): string {
  let text = "";
  let listed = 0;
  for (const { path, message } of firstIssues(issues)) {
    const line = `\n  ${path.length > 0 ? `${inOneLine(formatPath(path))}: ` : ""}${message}`;
    if (text.length + line.length > maxCharacters.text) break;
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
 * Also thrown if a file changes while it is uploaded. Then a part of it was sent, but no complete request.
 */
export class RequestValidationError extends PodPartnerError {
  static override readonly kind: string = "RequestValidationError";
  readonly isRetryable = false;
  readonly issues: readonly Issue[];

  constructor(details: {
    issues: readonly Issue[];
    endpoint?: string;
    incomplete?: boolean;
    /** The name of the invalid value, if it is not the input of a request. */
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
 * A response is not JSON, or does not match the specification in an essential field (references, quantities, prices, cursors, strict enums).
 * With `responses: "throw"`, a fault in any field throws. The SDK does not retry, because the service processed the request. A creation whose
 * response is not JSON counts as lost instead: the SDK looks it up, and sends it again if it is not found.
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
    return { ...super.toJSON(), ...forLog({ issues: this.issues, response: loggedResponse(this.response) }) };
  }
}
