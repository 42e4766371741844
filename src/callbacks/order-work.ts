import type { OrderReference } from "../references/references.ts";
import { onAbort } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { lazily } from "../util/lazily.ts";
import { builtIn } from "../util/runtime.ts";
import { DeadlockError } from "./errors.ts";

/** How an {@link OrderQueue} works. */
interface OrderQueueOptions {
  readonly clock: PartnerClock;
  /** How many orders are in work at a time. */
  readonly concurrency: number;
  /** Milliseconds that work waits until it starts. */
  readonly maxWait: number;
}

interface Waiting<Result> {
  readonly result: Promise<Result>;
  readonly start: () => void;
}

/**
 * Runs work on orders: one at a time for each order, and at most `concurrency` in all, in the order of arrival.
 *
 * The work reads its order when it starts. Callers that come before that share it. A caller that comes later may know of something newer:
 * those share the next work on the order.
 */
export class OrderQueue<Result> {
  readonly #options: OrderQueueOptions;
  readonly #waiting = new Map<string, Waiting<Result>>();
  readonly #running = new Set<string>();

  constructor(options: OrderQueueOptions) {
    this.#options = options;
  }

  /** Joins the work that waits for the order, or lets this one wait. `late` makes the result when it has waited for too long. */
  run(reference: string, work: () => Promise<Result>, late: () => Promise<Result>): Promise<Result> {
    const waiting = this.#waiting.get(reference);
    if (waiting !== undefined) return waiting.result;
    const { clock, maxWait } = this.#options;
    const { promise: result, resolve } = Promise.withResolvers<Result>();
    const stopTimer = clock.after(maxWait, () => {
      this.#waiting.delete(reference);
      resolve(late());
    });
    const start = () => {
      stopTimer();
      resolve(work());
    };
    this.#waiting.set(reference, { result, start });
    this.#startNext();
    return result;
  }

  /** Starts work while there is room. It skips at most as many orders as are in work. */
  #startNext(): void {
    for (const [reference, { result, start }] of this.#waiting) {
      if (this.#running.size >= this.#options.concurrency) return;
      if (this.#running.has(reference)) continue;
      this.#waiting.delete(reference);
      this.#running.add(reference);
      start();
      const end = () => {
        this.#running.delete(reference);
        this.#startNext();
      };
      result.then(end, end);
    }
  }
}

/** A handler that a receiver or follower has called. */
interface Handling {
  readonly caller: object;
  readonly orderReference: OrderReference;
  /** Whether the caller waits for it: until it finishes, or until the `timeout`. */
  awaited: boolean;
  /** The handler that the call was made in, for example that of a receiver around that of a follower. */
  readonly outer: Handling | undefined;
}

/** The handler around the running code. A platform without `node:async_hooks` does not know it. */
const storage = lazily(() => {
  const hooks = builtIn("node:async_hooks");
  return { current: hooks && new hooks.AsyncLocalStorage<Handling>() };
});

/** What the message of a time-out adds: a wait that the platform does not show ends only then. */
export const deadlockHint = "A handler must not wait for its own receiver or follower.";

/** Calls a handler. Until it finishes or the signal aborts, `caller` waits for it. */
export async function callHandler<Result>(
  caller: object,
  orderReference: OrderReference,
  signal: AbortSignal,
  handler: () => Result,
): Promise<Awaited<Result>> {
  const { current } = storage();
  if (current === undefined) return await handler();
  const handling: Handling = { caller, orderReference, awaited: true, outer: current.getStore() };
  const end = () => {
    handling.awaited = false;
  };
  const stopListening = onAbort(signal, end);
  try {
    return await current.run(handling, handler);
  } finally {
    end();
    stopListening();
  }
}

/**
 * Refuses a call that waits for the handler in which it is made: of `caller`, and of this order if there is one.
 *
 * @throws {@link DeadlockError}
 */
export function refuseInHandler(caller: object, call: string, orderReference?: OrderReference): void {
  for (let handling = storage().current?.getStore(); handling !== undefined; handling = handling.outer) {
    if (handling.caller !== caller || !handling.awaited) continue;
    if (orderReference !== undefined && orderReference !== handling.orderReference) continue;
    throw new DeadlockError(
      `${call} waits for the handler of the order ${handling.orderReference}, which made this call. Call it after the handler has finished.`,
    );
  }
}
