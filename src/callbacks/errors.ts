import { forLog, PodPartnerError } from "../errors/base.ts";
import { firstIssues, type Issue, listIssues } from "../errors/validation.ts";
import type { OrderReference } from "../references/references.ts";
import { wordsOf } from "../util/foreign.ts";

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
    return { ...super.toJSON(), ...forLog({ issues: this.issues }) };
  }
}

/** Why a follower could not do its work. */
export type OrderFollowerFault =
  /** The storage failed. */
  | "storage"
  /** The order was locked by another call for too long, or a receiver was busy with other orders. */
  | "busy"
  /** The service repeatedly returned a response that is older than what was handed over. */
  | "outdated"
  /** The service does not have the order, or does not show it yet. Only the `onError` of a receiver reports it. */
  | "missing"
  /** `close()` was called. */
  | "closed";

/** The follower could not check an order. No change is lost: a later `update` or `reconcile` hands it over. */
export class OrderFollowerError extends PodPartnerError {
  static override readonly kind: string = "OrderFollowerError";
  readonly isRetryable = true;
  readonly fault: OrderFollowerFault;

  constructor({ fault, message, cause }: { fault: OrderFollowerFault; message: string; cause?: unknown }) {
    super(message, { cause });
    this.fault = fault;
  }

  override toJSON() {
    return { ...super.toJSON(), fault: this.fault };
  }
}

/** A deadlock is noticed only by its time-out, so the messages of time-outs end with this. */
export const deadlockHint = "A handler must not wait for its own receiver or follower.";

export const fault = (kind: OrderFollowerFault, message: string) => new OrderFollowerError({ fault: kind, message });

/** An order that a sweep could not read, or whose change was not handled. */
export interface ReconcileFailure {
  readonly orderReference: OrderReference;
  /** What the function of the caller threw, or why the order was not read. */
  readonly error: unknown;
}

/** The result of a sweep. */
export interface Reconciled {
  /** Orders that were read without a failure. */
  readonly checked: number;
  /** Orders with a change that was handed over. */
  readonly changed: number;
  /** Orders that the service no longer has. */
  readonly gone: number;
}

/** The most failures that one error lists. */
const maxListed = 100;

/** Some orders of a sweep failed; the others were handled. The failed ones stay open, and the next sweep checks them first. */
export class ReconcileError extends PodPartnerError {
  static override readonly kind: string = "ReconcileError";
  readonly isRetryable = true;
  /** The result for the other orders. */
  readonly result: Reconciled;
  /** The number of orders that failed. */
  readonly failed: number;
  /** The failed orders, at most the first 100. */
  readonly failures: readonly ReconcileFailure[];

  constructor({ result, failures }: { result: Reconciled; failures: readonly ReconcileFailure[] }) {
    const lines = failures.slice(0, 3).map(({ orderReference, error }) => `\n  ${orderReference}: ${wordsOf(error)}`);
    const more = failures.length > 3 ? `\n  and ${failures.length - 3} more` : "";
    super(`${failures.length} of the followed orders failed; ${result.checked} were read.${lines.join("")}${more}`, {
      cause: failures[0]?.error,
    });
    this.result = result;
    this.failed = failures.length;
    this.failures = failures.slice(0, maxListed);
  }

  override toJSON() {
    return { ...super.toJSON(), result: this.result, failed: this.failed };
  }
}
