import { PodPartnerError } from "./base.ts";
import { DeadlineError } from "./connection.ts";

/**
 * The service failed to process the render: its `status` is `failed`, which is final (specification 3.2). The same composition and image
 * always have the same render (4.6), so only another pair can succeed.
 */
export class RenderFailedError extends PodPartnerError {
  static override readonly kind: string = "RenderFailedError";
  readonly isRetryable = false;
  override readonly hint =
    "Use another image or composition: `renders.create` with the same pair returns this failed render again, and deducts its rendertokens again.";
  /** The reference of the render that failed. */
  readonly reference: string;

  constructor({ reference, cause }: { reference: string; cause?: unknown }) {
    super(`The service failed to process the render ${reference}.`, { cause });
    this.reference = reference;
  }

  override toJSON() {
    return { ...super.toJSON(), reference: this.reference };
  }
}

/** The wait for a render ended before the render was completed. The service continues to process it; wait for it again. */
export class WaitTimeoutError extends DeadlineError {
  static override readonly kind: string = "WaitTimeoutError";
  override readonly hint: string =
    "Wait again: the service continues to process the render. Raise `deadline` to wait longer.";
  /** The reference of the render. */
  readonly reference: string;

  constructor({ reference, waited, cause }: { reference: string; waited: number; cause?: unknown }) {
    super({ message: `The render ${reference} was not completed within ${Math.round(waited)} ms.`, cause });
    this.reference = reference;
  }

  override toJSON() {
    return { ...super.toJSON(), reference: this.reference };
  }
}

/** The remaining `tokenBudget` of a `renders.batch` does not cover the render. Nothing was created. */
export class TokenBudgetError extends PodPartnerError {
  static override readonly kind: string = "TokenBudgetError";
  readonly isRetryable = false;
  override readonly hint =
    "Run the batch again with the same storage and a higher `tokenBudget`: it continues with the renders that are missing.";
  /** When the week's rendertokens reset, as an ISO 8601 timestamp; undefined if the service did not say it. */
  readonly resetsAt: string | undefined;

  constructor({ cost, remaining, resetsAt }: { cost: number; remaining: number; resetsAt: string | undefined }) {
    super(`The render's tokenCost is ${cost}, and ${remaining} of \`tokenBudget\` remain. Nothing was created.`);
    this.resetsAt = resetsAt;
  }

  override toJSON() {
    return { ...super.toJSON(), resetsAt: this.resetsAt };
  }
}
