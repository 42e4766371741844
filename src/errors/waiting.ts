import { PodPartnerError } from "./base.ts";
import { DeadlineError } from "./connection.ts";

/** The service failed to process the render: its `status` is `failed`, which is final (specification 3.2). */
export class RenderFailedError extends PodPartnerError {
  static override readonly kind: string = "RenderFailedError";
  readonly isRetryable = false;
  override readonly hint = "Check the image and the composition. Each new `renders.create` deducts rendertokens again.";
  /** The reference of the render that failed. */
  readonly reference: string;

  constructor({ reference }: { reference: string }) {
    super(`The service failed to process the render ${reference}.`);
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
