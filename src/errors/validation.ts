import { PodPartnerError } from "./base.ts";
import { htmlHint } from "./html-page.ts";
import type { ErrorResponse } from "./response.ts";

/** One fault, and where it is. */
export interface Issue {
  /** The way to the faulty value, for example `["order", "orderlines", 0, "quantity"]`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Writes a path as a developer would: `order.orderlines[0].quantity`. */
const formatPath = (path: Issue["path"]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );

const list = (issues: readonly Issue[]) =>
  issues.map(({ path, message }) => `\n  ${path.length > 0 ? `${formatPath(path)}: ` : ""}${message}`).join("");

/** The input of a call breaks a rule of the specification. No request was sent. `issues` has all faults. */
export class RequestValidationError extends PodPartnerError {
  static override readonly kind: string = "RequestValidationError";
  readonly isRetryable = false;
  readonly issues: readonly Issue[];

  constructor({ issues, endpoint }: { issues: readonly Issue[]; endpoint?: string }) {
    super(`Nothing was sent${endpoint ? ` to ${endpoint}` : ""}: the input is not valid.${list(issues)}`);
    this.issues = issues;
  }

  override toJSON() {
    return { ...super.toJSON(), issues: this.issues };
  }
}

/** An option of the client or of the emulator is missing, invalid or unknown. `issues` has each. */
export class ConfigurationError extends PodPartnerError {
  static override readonly kind: string = "ConfigurationError";
  readonly isRetryable = false;
  readonly issues: readonly Issue[];

  constructor({ issues }: { issues: readonly Issue[] }, whose = "client") {
    super(`The ${whose}'s options are not valid.${list(issues)}`);
    this.issues = issues;
  }

  override toJSON() {
    return { ...super.toJSON(), issues: this.issues };
  }
}

const unknownForm =
  'This version does not know this form of response. Set `responses: "report"` to receive such responses unchanged.';

/**
 * An answer does not have the shape that the specification promises, or is no JSON at all.
 * The request was carried out: it is never sent again for this. (A creation whose answer is no JSON at all counts as lost instead: it
 * is looked up, then sent again.) With `responses: "report"` a JSON answer is returned instead.
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
    super(`${what}${list(issues)}\n  ${hint}`);
    this.status = response.status;
    this.hint = hint;
    this.issues = issues;
    this.response = response;
  }

  override toJSON() {
    return { ...super.toJSON(), issues: this.issues, response: this.response };
  }
}
