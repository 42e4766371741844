import type { Exchange } from "./exchange.ts";
import type { FleetState } from "./fleet-state.ts";

/** Reports wait this many milliseconds, plus two visits, for a request for tokens that carries them; then they are sent alone. */
const delay = 100;

/** Sends the reports of this process, and returns its unused tokens, if no request for tokens carries them. */
export class Reports {
  readonly #state: FleetState;
  readonly #exchange: Exchange;
  #stopTimer: (() => void) | undefined;

  constructor(state: FleetState, exchange: Exchange) {
    this.#state = state;
    this.#exchange = exchange;
  }

  /** Sends the reports after a delay. */
  sendSoon(): void {
    const { member, connection, outbox, pool } = this.#state;
    if (this.#stopTimer !== undefined || (outbox.policies.length === 0 && pool.empty)) return;
    this.#stopTimer = member.clock.after(delay + 2 * connection.roundTrip, () => {
      this.#stopTimer = undefined;
      void this.send();
    });
  }

  /** Sends all reports, and returns the unused tokens. */
  async send(): Promise<void> {
    const { member, connection, outbox } = this.#state;
    // The program may have closed its connection after the last call.
    if (connection.down) return;
    if (!this.#exchange.busy && !connection.lost) {
      this.#state.returnDue(this.#state.now());
      const { policies } = outbox;
      if (policies.length > 0) await this.#exchange.run(policies, 0, 0);
      member.wake();
    }
    if (!connection.lost) this.sendSoon();
  }
}
