import type { FleetState } from "./fleet-state.ts";
import type { Reply } from "./protocol.ts";

/** Sends the state of this process to the store and receives that of the fleet. */
export class Exchange {
  readonly #state: FleetState;
  readonly #process = globalThis.crypto.randomUUID().slice(0, 8);
  #busy = false;

  constructor(state: FleetState) {
    this.#state = state;
  }

  /** Whether an exchange is in progress. There is one at a time, because each reports all tokens that this process holds. */
  get busy(): boolean {
    return this.#busy;
  }

  /** Asks for `wanted` tokens that calls wait for and `stock` tokens for the next calls. Resolves to undefined if the store is lost. */
  async run(policies: readonly string[], wanted: number, stock: number): Promise<Reply | undefined> {
    const { member, connection, keyOf, pool, outbox, levels } = this.#state;
    this.#busy = true;
    const now = this.#state.now();
    const roundTrips = policies.map((policy) => member.own.bucket(policy).roundTrip);
    const reply = await connection.exchange(policies.map(keyOf), {
      process: this.#process,
      wanted,
      stock,
      roundTrip: Math.max(...roundTrips),
      visit: connection.roundTrip,
      policies: policies.map((policy) => {
        const { quota, window } = member.own.bucket(policy);
        const bucket = { quota, window, born: levels.born(policy) };
        return { ...bucket, underWay: this.#underWay(policy), ...outbox.take(policy, now) };
      }),
    });
    this.#busy = false;
    // Tokens of a bucket that was replaced are dropped.
    if (reply !== undefined) pool.drop(levels.observe(policies, reply, this.#state.now()));
    return reply;
  }

  /** Tokens of a policy that this process holds, and its requests in flight. */
  #underWay(policy: string): number {
    return this.#state.member.own.bucket(policy).inFlight + this.#state.pool.tokens(policy);
  }
}
