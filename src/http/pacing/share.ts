import type { AnswerTimes } from "./answer-times.ts";

/**
 * How much of the bucket's refill a consumer keeps in it when others consume too: tokens, and no larger a part of the quota, nor more
 * than comes within so many milliseconds. In a slow bucket a token is worth minutes: better refused once than kept for long.
 */
const reserve = { usual: 25, ofQuota: 2 / 3, ms: 120_000 };
/** The first goes within so many milliseconds after a hold, or tokens: others are held until the same moment. */
const spread = { ms: 500, tokens: 4 };
/** So many times the shortest answer's time are added to the time in which a consumer would use up the level. */
const delays = 3;
/** Milliseconds that the shortest answer's time may count for: what takes longer is the service's work, not the way. */
const longestWay = 500;
/**
 * The reserve is larger by a factor while it is not known to last: at first, and with each refusal, up to so many times. The factor
 * fades in so many milliseconds.
 */
const caution = { first: 3, refused: 1.5, most: 16, memory: 20_000 };
/** Below this part of the refill, what others drink is noise. */
const noise = 0.03;
/** Milliseconds after which a picture that nothing has changed is looked at again, unless a token takes longer. */
const longestLook = 500;
/** A picture that shows nearly nothing is still tried as if it showed this much, so that no call waits for ever. */
const least = 0.5;

/**
 * This consumer's part of a bucket that others drink from, too.
 *
 * All of them see the same level. Each sends at a rate in proportion to it, `level / reach`, so the level settles where all of these
 * rates together are the refill: an equal part for each, without knowing how many they are, and with a few tokens in reserve.
 */
export class Share {
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
  /** What stands in for that at first. */
  #guess = { drunk: 0, time: 0 };
  #sentAt = Number.NEGATIVE_INFINITY;
  /** When the first goes after a refusal. */
  #turnAt: number | undefined;
  /** By how much the reserve is larger than usual, as it was at a time. */
  #caution = { factor: 1, at: 0 };
  readonly #times: AnswerTimes;
  /** Spreads consumers that would go in step. */
  #jitter = 1;

  constructor(times: AnswerTimes) {
    this.#times = times;
  }

  get present(): boolean {
    return this.#level !== undefined;
  }

  /** Certainly somebody else took tokens. */
  notice(likely: number, interval: number, now: number): void {
    if (this.present) return;
    this.#level = likely;
    this.#at = now;
    this.#heardAt = now;
    this.#noticedAt = now;
    this.#told = false;
    this.#beware(Math.max(caution.first, this.#factor(now)), now);
    // Before more is known, others are taken to drink half.
    this.#guess = { drunk: this.#trial(interval) / interval / 2, time: this.#trial(interval) };
    this.#drunk = 0;
    this.#time = 0;
    this.#thought = 0;
  }

  /** Told, not found out: there are so many consumers all told, and of the level this one may use so much. */
  join(level: number, consumers: number, interval: number, now: number): void {
    this.#level = undefined;
    this.notice(level, interval, now);
    this.#told = true;
    this.#beware(Math.max(consumers, this.#factor(now)), now);
    const { time } = this.#guess;
    this.#guess = { drunk: ((1 - 1 / consumers) * time) / interval, time };
  }

  /** The service refused a request until a time: if others are known, so many drink that the usual reserve does not last. */
  refuse(until: number, interval: number, now: number): void {
    if (!this.present) return;
    this.#turnAt = until + Math.random() * Math.max(spread.ms, spread.tokens * interval);
    this.#beware(this.#factor(now) * caution.refused, now);
  }

  #beware(factor: number, now: number): void {
    this.#caution = { factor: Math.min(caution.most, factor), at: now };
  }

  /** By how much the reserve is larger than usual. */
  #factor(now: number): number {
    const { factor, at } = this.#caution;
    return 1 + (factor - 1) * Math.exp((at - now) / caution.memory);
  }

  /** An answer to what was sent at `sentAt` tells the likely level. */
  hear(sentAt: number, likely: number, quota: number, interval: number, now: number): void {
    if (this.#level === undefined) return;
    this.#refill(quota, interval, now);
    const elapsed = now - this.#heardAt;
    this.#heardAt = now;
    // What was under way when others were noticed was served in any order: it tells the level, but not what others drink. Where they
    // were told of, it may not show yet what they sent, and the first answer after it shows the whole level, of which a part was known.
    const early = sentAt <= this.#noticedAt;
    if (early || this.#told) {
      this.#level = early && this.#told ? Math.min(this.#level, likely) : likely;
      this.#told &&= early;
      this.#thought = 0;
      return;
    }
    const fading = Math.exp(-elapsed / this.#memory(interval));
    // What others were thought to drink, corrected by how far the picture is off.
    this.#drunk = this.#drunk * fading + this.#thought + this.#level - likely;
    this.#thought = 0;
    this.#time = this.#time * fading + elapsed;
    this.#guess = { drunk: this.#guess.drunk * fading, time: this.#guess.time * fading };
    this.#level = likely;
    if (this.#time > this.#trial(interval) && (this.#drunk / this.#time) * interval < noise) this.#level = undefined;
  }

  take(quota: number, interval: number, now: number): void {
    this.#sentAt = now;
    this.#turnAt = undefined;
    if (this.#level === undefined) return;
    this.#refill(quota, interval, now);
    this.#level -= 1;
    this.#jitter = 0.75 + Math.random() / 2;
  }

  /** Milliseconds until this consumer's next turn; 0 when nobody else is known. */
  wait(quota: number, interval: number, now: number): number {
    if (this.#level === undefined) return 0;
    this.#refill(quota, interval, now);
    const due = this.#turnAt ?? this.#sentAt + this.#jitter * this.pace(quota, interval);
    // The level changes meanwhile: it is looked at again, once a token at the least.
    return Math.max(0, Math.min(due - now, Math.max(interval, longestLook)));
  }

  /** Milliseconds from one request to the next at the present level. */
  pace(quota: number, interval: number): number {
    const most = Math.min(quota * reserve.ofQuota, reserve.ms / interval);
    const tokens = Math.max(1, Math.min(most, reserve.usual * this.#factor(this.#at)));
    // What is on its way is not in the picture yet: the longer the way, the more gently.
    const reach = tokens * interval + delays * Math.min(this.#times.shortest, longestWay);
    return reach / Math.max(least, this.#level ?? quota);
  }

  /** Tokens per millisecond that others drink: the less is heard of them, the less. */
  #rate(now: number): number {
    const time = this.#time + this.#guess.time + now - this.#heardAt;
    return time > 0 ? Math.max(0, (this.#drunk + this.#guess.drunk) / time) : 0;
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
