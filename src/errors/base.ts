import { shorten } from "./shorten.ts";
import type { TimelineEntry } from "./timeline.ts";
import { timelineTable } from "./timeline-table.ts";

/** Describes the call that failed. */
export interface CallDetails {
  /** The endpoint as the specification writes it, for example `POST /orders`. */
  readonly endpoint: string;
  /** What happened, in order: queueing, attempts, waits, look-ups. */
  readonly timeline: readonly TimelineEntry[];
  /** Identifies what the call may have created although it failed. */
  readonly identifiers?: Readonly<Record<string, unknown>> | undefined;
}

/** Runs a test; false if it throws. Reading a property of a foreign value can throw. */
function holds(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

/** The maximum number of characters of a message: it may quote a response or a caller's value. */
const longestMessage = 3_500;

const marker = (name: string) => Symbol.for(`pod-partner.error.${name}`);

/**
 * The base class of all errors that the SDK throws. Only an abort rejects with another value: the reason of your signal.
 *
 * Use {@link PodPartnerError.isInstance} instead of `instanceof` if two copies of the package may be installed.
 */
export abstract class PodPartnerError extends Error {
  /** The endpoint of the call, for example `POST /orders`; undefined if the error does not belong to a call. */
  endpoint: string | undefined;
  /** The HTTP status of the response; undefined without a response. */
  readonly status: number | undefined = undefined;
  /** The service's error code (specification 7); undefined without one. */
  readonly code: string | undefined = undefined;
  /** The steps of the call before the error, in order, with the duration of each. */
  timeline: readonly TimelineEntry[] = [];
  /**
   * Identifies what the call may have created although it failed; otherwise undefined. For an order it holds the `customIdentifier`,
   * which `orders.ensure` uses to find the order.
   */
  identifiers: Readonly<Record<string, unknown>> | undefined = undefined;
  /** What to do next; undefined if the SDK does not know. */
  readonly hint: string | undefined = undefined;

  constructor(message: string, options?: ErrorOptions) {
    // A quoted sentence may end in a full stop of its own.
    super(shorten(message, longestMessage).replace(/(?<!\.)\.\.(?=\s|$)/g, "."), options);
    // If `Error.prototype` is frozen, an assignment throws.
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

  /** Whether the same call may succeed later, and repeating it does no harm. */
  abstract readonly isRetryable: boolean;

  /** The name of the class. Other copies of the package recognise the class by this name. */
  static readonly kind: string = "PodPartnerError";

  /**
   * Checks the class of an error, like `instanceof`. It also recognises errors of another installed copy of the package.
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

  /** Works like the plain `instanceof` but never throws. For a revoked proxy, plain `instanceof` throws. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class it is called on, not the one it is written in.
    return holds(() => Function.prototype[Symbol.hasInstance].call(this, error));
  }

  /** Returns the fields for a log. The secret key is never among them. */
  toJSON(): Record<string, unknown> {
    const { name, message, endpoint, status, code, hint, isRetryable, timeline, identifiers } = this;
    return { name, message, endpoint, status, code, hint, isRetryable, timeline, identifiers };
  }
}

/** Adds the endpoint and the timeline of the call to an error, and makes a stack with a table of the timeline, to which frames are added. */
export function attachCall(error: PodPartnerError, call: CallDetails): void {
  // The error of an inner request, such as a look-up, describes that request, but not what the outer call may have created.
  error.identifiers ??= call.identifiers;
  if (error.endpoint !== undefined) return;
  error.endpoint = call.endpoint;
  error.timeline = call.timeline;
  const lines = [`${error.name}: ${error.message}`, timelineTable(call.timeline)];
  error.stack = lines.filter((line) => line !== "").join("\n");
}
