import type { Issue } from "../../errors/validation.ts";

/** The most issues that a message lists. */
const listed = 20;

/** The input of a control is invalid, or the state of the emulated service does not allow the control. */
export class ControlError extends Error {
  override readonly name = "ControlError";
  readonly code: "invalid_input" | "refused";
  /** What is wrong with the input, with paths. */
  readonly issues: readonly Issue[];

  constructor(message: string, issues?: readonly Issue[]) {
    super(message);
    this.code = issues === undefined ? "refused" : "invalid_input";
    this.issues = issues ?? [];
  }
}

/** Makes the error of an invalid input, whose message lists the issues. */
export function inputError(what: string, issues: readonly Issue[]): ControlError {
  const lines = issues.slice(0, listed).map(({ path, message }) => `\n  ${path.join(".") || "input"}: ${message}`);
  const more = issues.length > listed ? `\n  and ${issues.length - listed} more` : "";
  return new ControlError(`${what}${lines.join("")}${more}`, issues);
}
