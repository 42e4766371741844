import type { Issue } from "../../errors/validation.ts";

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
