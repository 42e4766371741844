import { PodPartnerError } from "./base.ts";

/**
 * Code threw where it should not: code of yours, such as a polyfilled signal or a getter of an option, or the SDK itself.
 * `cause` has its message and stack. If a creation may have been carried out, `identifiers` identify it.
 */
export class UnexpectedError extends PodPartnerError {
  static override readonly kind: string = "UnexpectedError";
  readonly isRetryable = false;
  override readonly hint =
    "Read the stack of `cause`: its first line is the code that threw. Report it if that line is in pod-partner.";

  constructor({ reason, cause }: { reason: string; cause: unknown }) {
    super(`The call failed for an unexpected reason: ${reason}`, { cause });
  }
}
