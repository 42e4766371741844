import { DeadlineError } from "../errors/connection.ts";
import type { OrderReference } from "../references/references.ts";
import { onAbort, unlessAborted } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { attempt } from "../util/foreign.ts";
import { lazily } from "../util/lazily.ts";
import { DeadlockError } from "./errors.ts";

/** A handler that a receiver or follower has called. */
interface Handling {
  readonly caller: object;
  readonly orderReference: OrderReference;
  /** Whether the caller waits for it: until it finishes, or until the `timeout`. */
  awaited: boolean;
  /** The handler that the call was made in, for example that of a receiver around that of a follower. */
  readonly outer: Handling | undefined;
}

/** The handler around the running code. A platform without `node:async_hooks` does not know it; Next.js edge throws. */
const storage = lazily(() => {
  const hooks = attempt(() => globalThis.process?.getBuiltinModule?.("node:async_hooks"));
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

/**
 * Runs `work` for at most `timeout` milliseconds. Then its signal is aborted.
 *
 * @throws {@link DeadlineError} with `message` when the time is over, also if `work` ignores its signal.
 */
export async function withTimeout<Result>(
  clock: PartnerClock,
  timeout: number,
  message: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const stopTimer = clock.after(timeout, () => controller.abort(new DeadlineError({ message })));
  try {
    return await unlessAborted(work(controller.signal), controller.signal);
  } finally {
    stopTimer();
  }
}
