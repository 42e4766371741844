import { PodPartnerError } from "./base.ts";

/**
 * Code threw an unexpected error: your code, such as a polyfilled signal or a getter of an option, or the SDK itself.
 * `cause` has its message and stack. If the service may have carried out a creation, `identifiers` identify it.
 */
export class UnexpectedError extends PodPartnerError {
  static override readonly kind: string = "UnexpectedError";
  readonly isRetryable = false;
  override readonly hint =
    "Read the stack of `cause`: its first line shows the code that threw. Report the error if that line is in pod-partner.";

  constructor({ reason, cause }: { reason: string; cause: unknown }) {
    super(`The call failed for an unexpected reason: ${reason}`, { cause });
  }
}
