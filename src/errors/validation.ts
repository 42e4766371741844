import { PodPartnerError } from "./base.ts";
import { htmlHint } from "./html-page.ts";
import type { ErrorResponse } from "./response.ts";

/** One issue of a value, with its path. */
export interface Issue {
  /** The path of the faulty value, for example `["order", "orderlines", 0, "quantity"]`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Writes a path as a developer would: `order.orderlines[0].quantity`. */
const formatPath = (path: Issue["path"]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );

/** Writes each issue on a line of its own, with its path. */
export const listIssues = (issues: readonly Issue[]) =>
  issues.map(({ path, message }) => `\n  ${path.length > 0 ? `${formatPath(path)}: ` : ""}${message}`).join("");

/** The input of a call breaks a rule of the specification. No request was sent. `issues` has every issue with its path. */
export class RequestValidationError extends PodPartnerError {
  static override readonly kind: string = "RequestValidationError";
  readonly isRetryable = false;
  readonly issues: readonly Issue[];

  constructor({ issues, endpoint }: { issues: readonly Issue[]; endpoint?: string }) {
    super(`Nothing was sent${endpoint ? ` to ${endpoint}` : ""}: the input is not valid.${listIssues(issues)}`);
    this.issues = issues;
  }

  override toJSON() {
    return { ...super.toJSON(), issues: this.issues };
  }
}

/** An option of the client, the receiver or the emulator is missing, invalid or unknown. `issues` has every issue with its path. */
export class ConfigurationError extends PodPartnerError {
  static override readonly kind: string = "ConfigurationError";
  readonly isRetryable = false;
  readonly issues: readonly Issue[];

  constructor({ issues }: { issues: readonly Issue[] }, whose = "client") {
    super(`The ${whose}'s options are not valid.${listIssues(issues)}`);
    this.issues = issues;
  }

  override toJSON() {
    return { ...super.toJSON(), issues: this.issues };
  }
}

const unknownForm =
  'This version does not know this form of response. Set `responses: "report"` to receive such responses unchanged.';

/**
 * A response does not match the specification, or is not JSON. The SDK does not retry, because the service processed the request. For
 * a creation, a response that is not JSON counts as lost instead: the SDK looks the creation up, and sends it again if it is not found.
 *
 * With `responses: "report"` a JSON response is returned instead.
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
    this.issues = issues;
    this.response = response;
  }

  override toJSON() {
    return { ...super.toJSON(), issues: this.issues, response: this.response };
  }
}
