import { PodPartnerError } from "../errors/base.ts";
import { firstIssues, type Issue, listIssues } from "../errors/validation.ts";

/** The query of a callback breaks specification 6. `issues` names each parameter; no message contains a value of the query. */
export class CallbackValidationError extends PodPartnerError {
  static override readonly kind: string = "CallbackValidationError";
  readonly isRetryable = false;
  readonly issues: readonly Issue[];

  constructor({ issues }: { issues: readonly Issue[] }) {
    super(`The callback's parameters are not valid.${listIssues(issues)}`);
    this.issues = firstIssues(issues);
  }

  override toJSON() {
    return { ...super.toJSON(), issues: this.issues };
  }
}
