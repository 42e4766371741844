import pThrottle from "p-throttle";
import type { PartnerClock } from "../../util/clock.ts";
import type { CancelScope } from "../call/cancel-scope.ts";

/** The rate that a partner allows itself. */
export interface CeilingLimit {
  /** Requests per second. */
  readonly perSecond: number;
  /** Requests that may be sent at once. */
  readonly burst: number;
}

/** Milliseconds that a slot may be late. After that the wall clock was set back, and `p-throttle` would wait for it. */
const lateness = 5;

const second = 1_000;

/**
 * The partner's own ceiling: at most `burst` requests in any `burst / perSecond` seconds.
 *
 * `p-throttle` gives the slots, one at a time, to the call at the head of the queue: until then a call of a higher priority can overtake.
 * `p-throttle` cannot cancel one wait, and it reads the wall clock. So a wait that is canceled, or that takes longer than any wait can,
 * ends the throttle. The next one starts when all slots of the old one have expired: no slot comes too early, and no timer remains.
 */
export class Ceiling {
  readonly #limit: CeilingLimit;
  /** Milliseconds in which at most `burst` requests are sent. */
  readonly #window: number;
  readonly #clock: PartnerClock;
  readonly #reserve: ((limit: CeilingLimit) => Promise<number>) | undefined;
  #throttle: Throttle;
  #latestAt = Number.NEGATIVE_INFINITY;
  /** When the present throttle may give its first slot. */
  #opensAt = Number.NEGATIVE_INFINITY;
  /** Whether a request waits for its slot. The next request gets its turn after it. */
  #occupied = false;

  /** @param reserve Reserves a slot of the whole fleet. Resolves to the milliseconds until it comes. */
  constructor(limit: CeilingLimit, clock: PartnerClock, reserve?: (limit: CeilingLimit) => Promise<number>) {
    this.#limit = limit;
    this.#window = (second * limit.burst) / limit.perSecond;
    this.#clock = clock;
    this.#reserve = reserve;
    this.#throttle = createThrottle(limit.burst, this.#window);
  }

  get occupied(): boolean {
    return this.#occupied;
  }

  /** Lets one request wait for its slot. It must call {@link Ceiling.pass}. */
  occupy(): void {
    this.#occupied = true;
  }

  /** Waits for the slot of the request that occupies this ceiling. */
  async pass(scope: CancelScope): Promise<void> {
    try {
      await this.#slot(scope);
      if (this.#reserve === undefined) return;
      const ms = await scope.within(this.#reserve(this.#limit));
      if (ms > 0) await scope.hold<void>(({ resolve }) => this.#clock.after(ms, () => resolve()));
    } finally {
      this.#occupied = false;
    }
  }

  /** Milliseconds until this number of requests has been sent, at the ceiling. */
  until(requests: number): number {
    const unused = this.#clock.now() - this.#latestAt >= this.#window ? this.#limit.burst : 0;
    return (Math.max(0, requests - unused) * second) / this.#limit.perSecond;
  }

  #slot(scope: CancelScope): Promise<void> {
    return scope.hold<void>(({ resolve }) => {
      let stopTimer: () => void = () => undefined;
      let given = false;
      const give = () => {
        given = true;
        stopTimer();
        this.#latestAt = this.#clock.now();
        resolve();
      };
      const ask = () => {
        this.#throttle.slot(give);
        if (!given) stopTimer = this.#clock.after(this.#window + lateness, askAgain);
      };
      const askAgain = () => {
        this.#restart();
        ask();
      };
      const closed = this.#opensAt - this.#clock.now();
      if (closed > 0) stopTimer = this.#clock.after(closed, ask);
      else ask();
      return () => {
        stopTimer();
        this.#restart();
      };
    });
  }

  #restart(): void {
    this.#throttle.end();
    this.#throttle = createThrottle(this.#limit.burst, this.#window);
    this.#opensAt = this.#latestAt + this.#window;
  }
}

interface Throttle {
  /** Calls back when the next slot comes. */
  slot(callback: () => void): void;
  /** Cancels the slot that has not come. */
  end(): void;
}

function createThrottle(limit: number, interval: number): Throttle {
  const ended = new AbortController();
  // Only `strict` limits any window of this length; otherwise twice as many slots can come around the start of a window.
  const throttled = pThrottle({ limit, interval, strict: true, signal: ended.signal })(async (callback: () => void) =>
    callback(),
  );
  return {
    slot: (callback) => {
      throttled(callback).catch(() => undefined);
    },
    end: () => ended.abort(),
  };
}
