import type { PartnerClock } from "../../util/clock.ts";

/** The rate that a partner allows itself. */
export interface CeilingLimit {
  /** Requests per second. */
  readonly perSecond: number;
  /** The most requests in any `burst / perSecond` seconds. */
  readonly burst: number;
}

/** Reserves the next slots of a fleet. Resolves to the milliseconds until each of them comes. */
export type Reserve = (limit: CeilingLimit, slots: number) => Promise<readonly number[]>;

/** The part of a call's lifetime that a wait needs: the end of the call ends the wait. */
export interface Cancelable {
  /** Waits for the work that `begin` starts. `begin` returns a function that stops it. */
  hold<T>(begin: (settle: Settle<T>) => (reason: unknown) => void): Promise<T>;
  /** Waits for a promise, at most until the call ends. */
  within<T>(promise: Promise<T>): Promise<T>;
}

interface Settle<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** A reserved slot that is not used within this many milliseconds expires: later, it would add to a burst. */
const slotExpiresAfter = 500;

/**
 * The partner's own ceiling: at most `burst` requests in any `burst / perSecond` seconds.
 *
 * The call at the head of the queue waits for the next slot, one call at a time: until then a call of a higher priority can overtake, and a
 * call that leaves takes no slot.
 */
export class Ceiling {
  readonly #limit: CeilingLimit;
  /** Milliseconds in which at most `burst` requests are sent. */
  readonly #window: number;
  readonly #clock: PartnerClock;
  readonly #reserve: Reserve | undefined;
  /** When the latest `burst` slots were used, the oldest first. */
  readonly #used: number[] = [];
  /** When the slots come that are reserved in the fleet. */
  #reserved: number[] = [];
  #occupied = false;

  constructor(limit: CeilingLimit, clock: PartnerClock, reserve?: Reserve) {
    this.#limit = limit;
    this.#window = (1_000 * limit.burst) / limit.perSecond;
    this.#clock = clock;
    this.#reserve = reserve;
  }

  /** Whether a request waits for its slot. The next request gets its turn after it. */
  get occupied(): boolean {
    return this.#occupied;
  }

  /** Lets one request wait for its slot. It must call {@link Ceiling.pass}. */
  occupy(): void {
    this.#occupied = true;
  }

  /**
   * Waits for the slot of the request that occupies this ceiling, and uses it.
   *
   * @param waiting How many requests wait behind this one: a fleet's slots are reserved together.
   */
  async pass(scope: Cancelable, waiting: number): Promise<void> {
    try {
      if (this.#reserve !== undefined) await this.#sleepUntil(scope, await this.#nextReserved(scope, waiting));
      const next = this.#nextAt(1);
      if (next > this.#clock.now()) await this.#sleepUntil(scope, next);
      this.#use();
    } finally {
      this.#occupied = false;
    }
  }

  /** Uses a slot that is free now, for a request that does not wait. Returns whether there was one. */
  takeFree(): boolean {
    if (this.#occupied || this.#nextAt(1) > this.#clock.now()) return false;
    this.#use();
    return true;
  }

  #use(): void {
    if (this.#used.push(this.#clock.now()) > this.#limit.burst) this.#used.shift();
  }

  /** Milliseconds until this number of requests has been sent, after the one that waits for its slot. */
  until(requests: number): number {
    const all = requests + (this.#occupied ? 1 : 0);
    return all < 1 ? 0 : Math.max(0, this.#nextAt(all) - this.#clock.now());
  }

  /** When the n-th slot from now comes: a window after the slot that is `burst` slots earlier. */
  #nextAt(slot: number): number {
    const { burst } = this.#limit;
    const rounds = Math.floor((slot - 1) / burst);
    const earlier = this.#used[((slot - 1) % burst) - (burst - this.#used.length)] ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.#clock.now(), earlier + this.#window) + rounds * this.#window;
  }

  async #nextReserved(scope: Cancelable, waiting: number): Promise<number> {
    const now = this.#clock.now();
    this.#reserved = this.#reserved.filter((at) => at > now - slotExpiresAfter);
    if (this.#reserved.length === 0) await scope.within(this.#reserveSlots(Math.min(waiting + 1, this.#limit.burst)));
    return this.#reserved.shift() ?? now;
  }

  /** The slots remain reserved when the call that asked for them ends meanwhile. */
  async #reserveSlots(slots: number): Promise<void> {
    const waits = (await this.#reserve?.(this.#limit, slots)) ?? [];
    this.#reserved = waits.map((ms) => this.#clock.now() + ms);
  }

  /** Timers can be early. */
  async #sleepUntil(scope: Cancelable, time: number): Promise<void> {
    for (let ms = time - this.#clock.now(); ms > 0; ms = time - this.#clock.now()) {
      await scope.hold<void>(({ resolve }) => this.#clock.after(ms, () => resolve()));
    }
  }
}
