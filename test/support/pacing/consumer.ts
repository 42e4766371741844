import { CancelScope } from "../../../src/http/cancel-scope.ts";
import type { Pacer } from "../../../src/http/pacing/pacer.ts";
import { type Permit, type Priority, TokenTooFar } from "../../../src/http/pacing/queue.ts";
import type { Wait } from "../../../src/http/pacing/wait.ts";
import type { PartnerClock } from "../../../src/util/clock.ts";
import { endpointOf } from "../endpoints.ts";
import type { Served } from "./service.ts";

/** Milliseconds to the service and back. */
export type Latency = () => readonly [going: number, coming: number];

export interface Traffic {
  readonly clock: PartnerClock;
  readonly pacer: Pacer;
  readonly serve: () => Served;
  readonly calls: number;
  readonly parallel: number;
  readonly latency: Latency;
  readonly call?: string;
  readonly priority?: Priority;
  /** How often a refused call is retried before it fails. */
  readonly retries?: number;
  /** Called for each call that waits for more than a moment. */
  readonly report?: ((wait: Wait) => void) | undefined;
}

/** The results of a consumer's calls so far. */
export interface Outcome {
  /** When each call succeeded, and how long after its start. */
  readonly served: { readonly at: number; readonly took: number }[];
  refusals: number;
  failed: number;
  /** The most refusals of one call. */
  worst: number;
}

/** Sends calls through a pacer as the operation of a call does: acquires, sends, reads the response, and retries a refusal. */
export function consume({ clock, pacer, serve, calls, parallel, latency, ...rest }: Traffic): Outcome {
  const outcome: Outcome = { served: [], refusals: 0, failed: 0, worst: 0 };
  const endpoint = endpointOf(rest.call ?? "orders.get");
  let left = calls;

  /** A call that is rejected because the queue is held for long is made again. */
  const queueUp = (scope: CancelScope, again: boolean): Promise<Permit> =>
    pacer
      .acquire(endpoint, rest.priority ?? "normal", scope, { retried: again, report: rest.report })
      .catch((error: unknown) => {
        if (error instanceof TokenTooFar) return queueUp(scope, again);
        throw error;
      });

  const send = async (startedAt: number, refusals: number): Promise<void> => {
    const scope = new CancelScope(clock, undefined, undefined);
    const grant = (refusals === 0 ? pacer.tryAcquire(endpoint) : undefined) ?? (await queueUp(scope, refusals > 0));
    const [going, coming] = latency();
    clock.after(going, () => {
      const { refused, headers, retryAfter } = serve();
      clock.after(coming, () => {
        if (refused) {
          pacer.refuse(endpoint, grant, headers, { ms: retryAfter });
          outcome.refusals += 1;
          outcome.worst = Math.max(outcome.worst, refusals + 1);
          if (refusals < (rest.retries ?? Number.POSITIVE_INFINITY)) {
            void send(startedAt, refusals + 1);
            return;
          }
          outcome.failed += 1;
          start();
          return;
        }
        pacer.observe(endpoint, grant, headers);
        outcome.served.push({ at: clock.now(), took: clock.now() - startedAt });
        start();
      });
    });
  };
  const start = () => {
    if (left === 0) return;
    left -= 1;
    void send(clock.now(), 0);
  };
  for (let lane = 0; lane < parallel; lane += 1) start();
  return outcome;
}
