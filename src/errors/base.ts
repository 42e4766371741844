import type { TimelineEntry } from "./timeline.ts";
import { timelineTable } from "./timeline-table.ts";

/** What the pipeline knows about the call that an error ended. */
export interface CallDetails {
  /** The endpoint as the specification writes it, for example `POST /orders`. */
  readonly endpoint: string;
  /** What happened, in order: queueing, attempts, waits, look-ups. */
  readonly timeline: readonly TimelineEntry[];
  /** The stack below the message: the caller's own frames. */
  readonly callSite: string;
  /** What the call may have created although it failed. */
  readonly identifiers?: Readonly<Record<string, unknown>> | undefined;
}

/** Runs a test of a value that can throw when it is read. */
function holds(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

const marker = (name: string) => Symbol.for(`pod-partner.error.${name}`);

/**
 * The root of everything the SDK throws, apart from a caller's own abort reason.
 *
 * Use {@link PodPartnerError.isInstance} instead of `instanceof` where two copies of the package may be installed.
 */
export abstract class PodPartnerError extends Error {
  /** The endpoint of the call, for example `POST /orders`; undefined where no call was involved. */
  endpoint: string | undefined;
  /** The HTTP status of the answer that led here, if there was one. */
  readonly status: number | undefined = undefined;
  /** The service's error code (specification 7), if it gave one. */
  readonly code: string | undefined = undefined;
  /** What happened before the error, in order, with the time each step took. */
  timeline: readonly TimelineEntry[] = [];
  /**
   * Where the call may have created something although it failed: what identifies it. For an order its `customIdentifier`, by
   * which `orders.ensure` finds it.
   */
  identifiers: Readonly<Record<string, unknown>> | undefined = undefined;
  /** What to do about it, where that is known. */
  readonly hint: string | undefined = undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // Where `Error.prototype` is frozen an assignment would throw.
    Object.defineProperty(this, "name", {
      value: new.target.kind,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    for (let type = new.target; type !== Object.getPrototypeOf(Error); type = Object.getPrototypeOf(type)) {
      if (Object.hasOwn(type, "kind")) Object.defineProperty(this, marker(type.kind), { value: true });
      if (type === PodPartnerError) break;
    }
  }

  /** Whether doing the same call again, later, may succeed and cannot do harm. */
  abstract readonly isRetryable: boolean;

  /** The name by which this class is recognised in other copies of the package. */
  static readonly kind: string = "PodPartnerError";

  /**
   * `instanceof` that also recognises errors of another installed copy of the package.
   *
   * @example
   * if (NotFoundError.isInstance(error)) console.log(error.endpoint);
   */
  static isInstance<Type extends PodPartnerError>(
    this: (abstract new (...arguments_: never[]) => Type) & { readonly kind: string },
    error: unknown,
  ): error is Type {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class it is called on, not the one it is written in.
    const { kind } = this;
    return typeof error === "object" && error !== null && holds(() => marker(kind) in error);
  }

  /** Plain `instanceof` that never throws: a caller's code can throw a revoked proxy, for which `instanceof` throws. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class it is called on, not the one it is written in.
    return holds(() => Function.prototype[Symbol.hasInstance].call(this, error));
  }

  /** The parts worth logging; never the secret key. */
  toJSON(): Record<string, unknown> {
    const { name, message, endpoint, status, code, hint, isRetryable, timeline, identifiers } = this;
    return { name, message, endpoint, status, code, hint, isRetryable, timeline, identifiers };
  }
}

/** Completes an error with its call: endpoint, timeline, and, where it is printed, a table of that and the caller's own line. */
export function attachCall(error: PodPartnerError, call: CallDetails): void {
  // The error of a request that the call made for itself tells of that request, but not of what the call may have created.
  error.identifiers ??= call.identifiers;
  if (error.endpoint !== undefined) return;
  error.endpoint = call.endpoint;
  error.timeline = call.timeline;
  const lines = [`${error.name}: ${error.message}`, timelineTable(call.timeline), call.callSite];
  error.stack = lines.filter((line) => line !== "").join("\n");
}
