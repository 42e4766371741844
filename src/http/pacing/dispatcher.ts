import type { PartnerClock } from "../../util/clock.ts";
import type { Limits } from "./limits.ts";
import { sizeOf, type WaitQueue } from "./queue/wait-queue.ts";

/** Serves the queues while there are tokens. */
export class Dispatcher {
  readonly #clock: PartnerClock;
  readonly #limits: Limits;
  #stopTimer: (() => void) | undefined;

  constructor(clock: PartnerClock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Serves the queues as far as the tokens go, then sets a timer for the next token. */
  run(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const { queues, gatewayLimit, ceiling } = this.#limits;
    // The request that waits for its slot runs the dispatcher again.
    while (queues.occupied && ceiling?.occupied !== true) {
      const closed = gatewayLimit.wait(this.#clock.now());
      if (closed > 0) {
        this.#runIn(closed);
        return;
      }
      const { ready, wait } = this.#scan();
      const waiter = queues.takeTurn(ready);
      if (waiter === undefined) {
        this.#runIn(wait);
        return;
      }
      waiter.turn.grant();
    }
  }

  #runIn(wait: number): void {
    if (Number.isFinite(wait)) this.#stopTimer = this.#clock.after(Math.max(1, Math.ceil(wait)), () => this.run());
  }

  /** Finds the queues that have tokens, and the shortest wait of the others. */
  #scan(): { readonly ready: readonly WaitQueue[]; readonly wait: number } {
    const { tokens, queues } = this.#limits;
    let shortest = Number.POSITIVE_INFINITY;
    const ready: WaitQueue[] = [];
    for (const queue of queues) {
      const wanted = sizeOf(queue);
      if (wanted === 0) continue;
      const wait = tokens.wait(queue.policies, wanted);
      if (wait <= 0) {
        ready.push(queue);
        continue;
      }
      queues.rejectImpatient(queue, Math.max(...queue.policies.map((policy) => tokens.away(policy))));
      // A queue that is empty now needs no timer.
      if (sizeOf(queue) > 0) shortest = Math.min(shortest, wait);
    }
    return { ready, wait: shortest };
  }
}
