import type { PartnerClock } from "../../util/clock.ts";
import type { TokenSource } from "./bucket/token-source.ts";
import type { GatewayLimit } from "./gateway-limit.ts";
import { sizeOf, type WaitQueue, type WaitQueues } from "./queue/wait-queue.ts";
import { WakeUp } from "./queue/wake-up.ts";

/** Serves the queues while there are tokens. */
export class Dispatcher {
  readonly #clock: PartnerClock;
  readonly #queues: WaitQueues;
  readonly #tokens: TokenSource;
  readonly #gatewayLimit: GatewayLimit;
  readonly #wakeUp: WakeUp;

  constructor(clock: PartnerClock, queues: WaitQueues, tokens: TokenSource, gatewayLimit: GatewayLimit) {
    this.#clock = clock;
    this.#queues = queues;
    this.#tokens = tokens;
    this.#gatewayLimit = gatewayLimit;
    this.#wakeUp = new WakeUp(clock, () => this.run());
  }

  /** Serves the queues as far as the tokens go, then sets a timer for the next token. */
  run(): void {
    for (;;) {
      const closed = this.#queues.occupied ? this.#gatewayLimit.wait(this.#clock.now()) : 0;
      if (closed > 0) {
        this.#wakeUp.in(closed, 0);
        return;
      }
      const { ready, wait, interval } = this.#scan();
      const waiter = this.#queues.takeTurn(ready);
      if (waiter === undefined) {
        this.#wakeUp.in(wait, interval);
        return;
      }
      waiter.turn.grant();
    }
  }

  /** Finds the queues that have tokens, and the shortest wait of the others. */
  #scan(): { readonly ready: readonly WaitQueue[]; readonly wait: number; readonly interval: number } {
    let shortest = Number.POSITIVE_INFINITY;
    let interval = 0;
    const ready: WaitQueue[] = [];
    for (const queue of this.#queues) {
      const wanted = sizeOf(queue);
      if (wanted === 0) continue;
      const wait = this.#tokens.wait(queue.policies, wanted);
      if (wait <= 0) {
        ready.push(queue);
        continue;
      }
      this.#queues.rejectImpatient(queue, Math.max(...queue.policies.map((policy) => this.#tokens.away(policy))));
      // A queue that is empty now needs no timer.
      if (sizeOf(queue) === 0 || wait >= shortest) continue;
      shortest = wait;
      interval = this.#tokens.intervalOf(queue.policies);
    }
    return { ready, wait: shortest, interval };
  }
}
