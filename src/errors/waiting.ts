import { PodPartnerError } from "./base.ts";
import { DeadlineError } from "./connection.ts";

/** The render's processing failed (`status` is `failed`): waiting longer is of no use. */
export class RenderFailedError extends PodPartnerError {
  static override readonly kind: string = "RenderFailedError";
  readonly isRetryable = false;
  override readonly hint = "Check the image and the composition; creating the render again deducts tokens again.";
  /** The reference of the render that failed. */
  readonly reference: string;

  constructor({ reference }: { reference: string }) {
    super(`The render ${reference} failed.`);
    this.reference = reference;
  }

  override toJSON() {
    return { ...super.toJSON(), reference: this.reference };
  }
}

/** A wait for a render ended before the render did. The render goes on: wait again, nothing is lost. */
export class WaitTimeoutError extends DeadlineError {
  static override readonly kind: string = "WaitTimeoutError";
  /** The reference of the render that was waited for. */
  readonly reference: string;

  constructor({ reference, waited, cause }: { reference: string; waited: number; cause?: unknown }) {
    super({ message: `The render ${reference} was not complete after ${Math.round(waited)} ms.`, cause });
    this.reference = reference;
  }

  override toJSON() {
    return { ...super.toJSON(), reference: this.reference };
  }
}
