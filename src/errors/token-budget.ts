import { PodPartnerError } from "./base.ts";

/** The remaining `tokenBudget` of a `renders.batch` does not cover the render. Nothing was created. */
export class TokenBudgetError extends PodPartnerError {
  static override readonly kind: string = "TokenBudgetError";
  readonly isRetryable = false;
  override readonly hint = "Run the batch again with the same store: it continues with the renders that are missing.";
  /** When the week's rendertokens reset; undefined if the service did not say it. */
  readonly resetsAt: Date | undefined;

  constructor({ cost, remaining, resetsAt }: { cost: number; remaining: number; resetsAt: Date | undefined }) {
    super(`The render costs ${cost} rendertokens, and ${remaining} of \`tokenBudget\` remain. Nothing was created.`);
    this.resetsAt = resetsAt;
  }

  override toJSON() {
    return { ...super.toJSON(), resetsAt: this.resetsAt };
  }
}
