import { PodPartnerError } from "./base.ts";

/**
 * Something threw where nothing should: a part of yours, such as a polyfilled signal, an option with a getter, or the SDK itself.
 * `cause` has the words of it. Where a creation may have been carried out already, `find` says how to find out.
 */
export class UnexpectedError extends PodPartnerError {
  static override readonly kind: string = "UnexpectedError";
  readonly isRetryable = false;
  override readonly hint =
    "Look at the stack of `cause`: it begins where this was thrown. If that is in pod-partner, please report it.";

  constructor({ reason, cause }: { reason: string; cause: unknown }) {
    super(`Something threw that should not: ${reason}`, { cause });
  }
}
