import type { OrderReference } from "../../references/references.ts";
import { keepLease, type Lease } from "../../stores/lease.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { OrderFollowerError } from "./errors.ts";
import type { Records } from "./records.ts";

/** Milliseconds after which the turn of a dead process ends. */
const leaseTime = 5_000;
/** Milliseconds between two attempts to get a turn. */
const interval = 100;

/**
 * The turn of this process to hand over an order. It is renewed until it is released. A process that loses it, because it was suspended
 * or the store was slow, does no harm: it cannot change the state that another process has stored.
 */
export class Turn {
  readonly #lease: Lease;
  readonly #clock: PartnerClock;
  /** The turn certainly lasts until then. */
  #until: number;
  readonly #stopRenewing: () => void;

  constructor(lease: Lease, clock: PartnerClock, began: number) {
    this.#lease = lease;
    this.#clock = clock;
    this.#until = began + leaseTime;
    this.#stopRenewing = keepLease(lease, leaseTime, clock, (renewed) => {
      this.#until = Math.max(this.#until, renewed + leaseTime);
    });
  }

  /** Whether no other process can have had a turn meanwhile. */
  get isCertain(): boolean {
    return this.#clock.now() < this.#until;
  }

  /** Never rejects: a lease that the store keeps ends by itself. */
  async release(): Promise<void> {
    this.#stopRenewing();
    await this.#lease.release().catch(() => undefined);
  }
}

/** Waits for the turn of an order, at most `timeout` milliseconds. */
export async function takeTurn(
  records: Records,
  reference: OrderReference,
  { clock, timeout }: { readonly clock: PartnerClock; readonly timeout: number },
): Promise<Turn> {
  const deadline = clock.now() + timeout;
  for (;;) {
    const began = clock.now();
    const lease = await records.lease(reference, leaseTime);
    if (lease !== undefined) return new Turn(lease, clock, began);
    if (clock.now() + interval > deadline) {
      const message = `Another process handles the order ${reference} for more than ${timeout} ms. Repeat the call later.`;
      throw new OrderFollowerError({ fault: "busy", message });
    }
    await new Promise<void>((resolve) => void clock.after(interval, resolve));
  }
}
