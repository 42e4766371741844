import type { PartnerClock } from "../../util/clock.ts";
import type { Wait } from "./wait.ts";

/** The rate that a partner allows itself. */
export interface CeilingLimit {
  /** Requests per second. */
  readonly perSecond: number;
  /** The most requests in any `burst / perSecond` seconds. */
  readonly burst: number;
}

/** Reserves the next slots of a fleet. Resolves to the milliseconds until each of them comes, or to none while the fleet is lost. */
export type Reserve = (limit: CeilingLimit, slots: number) => Promise<readonly number[]>;

/**
 * A reserved slot that is not used within this many milliseconds expires: used later, it would add to a burst. After each loss the time is
 * twice as long until a slot is used, so that a process whose timers are always late sends, too.
 */
export const slotExpiresAfter = 50;

/** The partner's own ceiling: at most `burst` requests in any `burst / perSecond` seconds. */
export class Ceiling {
  readonly #limit: CeilingLimit;
  /** Milliseconds in which at most `burst` requests are sent. Each slot comes again after this time. */
  readonly window: number;
  readonly #clock: PartnerClock;
  readonly #reserveShared: Reserve | undefined;
  readonly #wake: () => void;
  /** When the latest requests were sent, at most `burst` of them. */
  readonly #sentAt: number[] = [];
  /** When the slots come that are reserved in the fleet. */
  #reserved: number[] = [];
  #reserving = false;
  #expiresAfter = slotExpiresAfter;

  /**
   * @param reserve Undefined without a fleet.
   * @param wake Called when slots have been reserved.
   */
  constructor(limit: CeilingLimit, clock: PartnerClock, reserve: Reserve | undefined, wake: () => void) {
    this.#limit = limit;
    this.window = (1_000 * limit.burst) / limit.perSecond;
    this.#clock = clock;
    this.#reserveShared = reserve;
    this.#wake = wake;
  }

  /** The most requests at the same time. */
  get burst(): number {
    return this.#limit.burst;
  }

  /**
   * What keeps the next request, which has its tokens, from being sent now.
   *
   * @param waiting How many requests wait: a fleet's slots are reserved together.
   */
  wait(waiting: number): Wait | undefined {
    const now = this.#clock.now();
    const ms = Math.max(this.#nextAt(1, now), this.#nextReserved(now, waiting)) - now;
    return ms > 0 ? { ms, reason: Number.isFinite(ms) ? "ceiling" : "fleet", policy: "default" } : undefined;
  }

  /** Uses a slot, and returns its time. */
  take(): number {
    const now = this.#clock.now();
    this.#reserved.shift();
    this.#expiresAfter = slotExpiresAfter;
    this.#sentAt.push(now);
    if (this.#sentAt.length > this.#limit.burst) this.#sentAt.shift();
    return now;
  }

  /** Returns the slot of a request that was not sent. */
  giveBack(time: number): void {
    const at = this.#sentAt.lastIndexOf(time);
    if (at >= 0) this.#sentAt.splice(at, 1);
  }

  /** Milliseconds until this number of requests may be sent, in a fleet if no other process sends any. */
  until(requests: number): number {
    if (requests < 1) return 0;
    const now = this.#clock.now();
    const reserved = this.#reserved[Math.min(requests, this.#reserved.length) - 1] ?? now;
    return Math.max(this.#nextAt(requests, now), reserved) - now;
  }

  /** When the n-th slot from now comes: a window after the slot that is `burst` slots earlier. */
  #nextAt(slot: number, now: number): number {
    const { burst } = this.#limit;
    const rounds = Math.floor((slot - 1) / burst);
    const earlier = this.#sentAt[this.#sentAt.length - burst + ((slot - 1) % burst)] ?? Number.NEGATIVE_INFINITY;
    return Math.max(now, earlier + this.window) + rounds * this.window;
  }

  /** When the next slot of the fleet comes; infinite until a reservation has its reply. */
  #nextReserved(now: number, waiting: number): number {
    if (this.#reserveShared === undefined) return now;
    const usable = this.#reserved.filter((at) => at > now - this.#expiresAfter);
    if (usable.length < this.#reserved.length) this.#expiresAfter *= 2;
    this.#reserved = usable;
    const [next] = this.#reserved;
    if (next === undefined && !this.#reserving) void this.#reserveSlots(this.#reserveShared, waiting);
    return next ?? Number.POSITIVE_INFINITY;
  }

  /** While the fleet is lost, this process's own window is the only limit. */
  async #reserveSlots(reserve: Reserve, waiting: number): Promise<void> {
    this.#reserving = true;
    const waits = await reserve(this.#limit, waiting);
    this.#reserving = false;
    this.#reserved = (waits.length > 0 ? waits : [0]).map((ms) => this.#clock.now() + ms);
    this.#wake();
  }
}
