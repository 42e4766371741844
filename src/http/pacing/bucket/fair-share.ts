import type { ResponseTimes } from "./response-times.ts";

/**
 * The level at which a consumer sends at the rate of the refill: tokens, and so many for each that comes while an answer is on its way,
 * but no larger a part of the quota, nor more than comes within so many milliseconds: in a slow bucket a token is worth minutes.
 */
const reserve = { tokens: 24, perWay: 7, ofQuota: 2 / 3, ms: 120_000 };
/** Milliseconds that the shortest answer's time may count for: what takes longer is the service's work, not the way. */
const longestWay = 500;
/** A level of nearly nothing is still tried as if it was this part of the reserve, so that no call waits for ever. */
const least = 0.1;
/** Above the reserve so many requests are on their way at a time, or a part of the level: many may do the same at once. */
const burst = { ofLevel: 1 / 64, least: 4 };
/** The first goes within so many milliseconds after a hold, or tokens: others are held until the same moment. */
const spread = { ms: 500, tokens: 24 };
/** Below this part of the refill, what others drink is noise. */
const noise = 0.03;
/** Milliseconds after which a picture that nothing has changed is looked at again, unless a token takes longer. */
const longestLook = 500;
/**
 * This consumer's part of a bucket that others drink from, too.
 *
 * All of them see the same level, and each sends at a rate that follows from it alone. So the level settles where all of these rates
 * together are the refill: an equal part for each, without knowing how many they are, and with a few tokens in reserve. Below the
 * reserve the rate falls with the square of the level: four times as many consumers leave half as many tokens, not a quarter.
 */
export class FairShare {
  /** The likely level, less what was sent since; undefined while nobody else is known. */
  #level: number | undefined;
  #at = 0;
  #heardAt = 0;
  #noticedAt = 0;
  /** Whether others were told of, and no answer to what was sent since then has shown the level. */
  #told = false;
  /** What others drank and the milliseconds they took for it, fading. */
  #drunk = 0;
  #time = 0;
  /** What others are thought to have drunk since the latest answer. */
  #thought = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** When the first goes after a refusal. */
  #turnAt: number | undefined;
  readonly #times: ResponseTimes;

  constructor(times: ResponseTimes) {
    this.#times = times;
  }

  get present(): boolean {
    return this.#level !== undefined;
  }

  /** Certainly somebody else took tokens. */
  notice(likely: number, now: number): void {
    if (this.present) return;
    this.#level = likely;
    this.#at = now;
    this.#heardAt = now;
    this.#noticedAt = now;
    this.#told = false;
    this.#drunk = 0;
    this.#time = 0;
    this.#thought = 0;
  }

  /** Told, not found out: there are so many consumers all told, and of the level this one may use so much. */
  join(level: number, consumers: number, interval: number, now: number): void {
    this.#level = undefined;
    this.notice(level, now);
    this.#told = true;
    this.#time = this.#trial(interval);
    this.#drunk = ((1 - 1 / consumers) * this.#time) / interval;
  }

  /** The service refused a request until a time. */
  refuse(until: number, interval: number): void {
    if (this.present) this.#turnAt = until + Math.random() * Math.max(spread.ms, spread.tokens * interval);
  }

  /** An answer to what was sent at `sentAt` tells the likely level. */
  hear(sentAt: number, likely: number, quota: number, interval: number, now: number): void {
    if (this.#level === undefined) return;
    this.#refill(quota, interval, now);
    const elapsed = now - this.#heardAt;
    this.#heardAt = now;
    // What was under way when this one was told may not show what others sent. The first answer after it shows the whole level, of which
    // a part was known: it tells nothing of what others drink.
    if (this.#told) {
      this.#told = sentAt <= this.#noticedAt;
      this.#level = this.#told ? Math.min(this.#level, likely) : likely;
      this.#thought = 0;
      return;
    }
    const fading = Math.exp(-elapsed / this.#memory(interval));
    // What others were thought to drink, corrected by how far the picture is off.
    this.#drunk = this.#drunk * fading + this.#thought + this.#level - likely;
    this.#thought = 0;
    this.#time = this.#time * fading + elapsed;
    this.#level = likely;
    if (this.#time > this.#trial(interval) && (this.#drunk / this.#time) * interval < noise) this.#level = undefined;
  }

  take(quota: number, interval: number, now: number): void {
    this.#sentAt = now;
    this.#turnAt = undefined;
    if (this.#level === undefined) return;
    this.#refill(quota, interval, now);
    this.#level -= 1;
  }

  /** Milliseconds until this consumer's next turn; 0 when nobody else is known. */
  wait(quota: number, interval: number, inFlight: number, now: number): number {
    if (this.#level === undefined) return 0;
    this.#refill(quota, interval, now);
    const most = Math.max(burst.least, burst.ofLevel * this.#level);
    if (inFlight >= most && this.#level > this.#reserve(quota, interval)) return longestLook;
    const due = this.#turnAt ?? this.#sentAt + this.pace(quota, interval);
    // The level changes meanwhile: it is looked at again, once a token at the least.
    return Math.max(0, Math.min(due - now, Math.max(interval, longestLook)));
  }

  /** Milliseconds from one request to the next at the present level. */
  pace(quota: number, interval: number): number {
    const part = Math.max(least, (this.#level ?? quota) / this.#reserve(quota, interval));
    return interval / (part * Math.min(1, part));
  }

  /** What is on its way is not in the picture yet: the longer the way, the more has to be left, or the level swings. */
  #reserve(quota: number, interval: number): number {
    const way = Math.min(this.#times.shortest, longestWay) / interval;
    const most = Math.min(quota * reserve.ofQuota, reserve.ms / interval);
    return Math.max(1, Math.min(most, reserve.tokens + reserve.perWay * way));
  }

  /** Tokens per millisecond that others drink: the less is heard of them, the less. */
  #rate(now: number): number {
    const time = this.#time + now - this.#heardAt;
    return time > 0 ? Math.max(0, this.#drunk / time) : 0;
  }

  /** How long others are believed in before they can turn out to be gone, or never to have been there. */
  #trial(interval: number): number {
    return Math.max(1_000, 10 * interval);
  }

  #memory(interval: number): number {
    return Math.max(2_000, 100 * interval);
  }

  #refill(quota: number, interval: number, now: number): void {
    if (this.#level === undefined) return;
    const alone = Math.min(quota, this.#level + (now - this.#at) / interval);
    this.#level = Math.max(Math.min(this.#level, alone), alone - (now - this.#at) * this.#rate(now));
    this.#thought += alone - this.#level;
    this.#at = now;
  }
}
