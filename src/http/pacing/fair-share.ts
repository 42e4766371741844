/** The size of a bucket, and its requests in flight. */
interface BucketSize {
  readonly quota: number;
  /** The number of requests without a response. */
  readonly inFlight: number;
  /** Milliseconds in which one token refills. */
  readonly interval: number;
  /** The shortest recent round trip, in milliseconds. */
  readonly roundTrip: number;
}

/**
 * The level at which a client sends at the rate of the refill: `tokens`, and `perRoundTrip` for each token that comes during a round trip.
 * It is at most a part of the quota, and at most the tokens that come within `ms` milliseconds.
 */
export const reserve = { tokens: 24, perRoundTrip: 7, ofQuota: 2 / 3, ms: 120_000 };
/** The longest round trip that counts, in milliseconds: in a longer one the service works, and the network is not the reason. */
export const maxRoundTrip = 500;
/** The rate is at least the rate of this part of the reserve, so that no call waits forever. */
export const minPartOfReserve = 0.1;
/**
 * Above the reserve this many requests are in flight at a time, or this part of the level: many clients may send at once. Each further one is
 * sent in the time of `tokensApart`: responses that take long must not stop a client beside a full bucket.
 */
const inFlightAboveReserve = { min: 4, ofLevel: 1 / 64, tokensApart: 3 };
/** The first request after a hold is spread over this time, or over the time of this many tokens: other clients are held as long. */
const spreadAfterHold = { ms: 500, tokens: 24 };
/** Other clients that use less than this part of the refill count as noise. */
export const noiseOfRefill = 0.03;
/** Milliseconds after which the level is checked again without a new response, unless a token takes longer. */
export const maxCheckInterval = 500;
/** Others are assumed for at least this many milliseconds, or for the time of this many tokens, before responses can rule them out. */
const minAssumed = { ms: 1_000, tokens: 10 };
/** What others use is an average over this many milliseconds, or over the time of this many tokens. */
const averageOver = { ms: 2_000, tokens: 100 };

/**
 * This client's part of a bucket that other clients use, too.
 *
 * All clients see the same level, and each sends at a rate that follows from the level alone. The level settles where these rates
 * together equal the refill: each client has an equal part, no client knows their number, and a few tokens stay in reserve. Below the
 * reserve the rate falls with the square of the level: four times as many clients leave half as many tokens, not a quarter.
 */
export class FairShare {
  /** The likely level, minus the requests sent since; undefined while no other client is known. */
  #level: number | undefined;
  #at = 0;
  #observedAt = 0;
  /** Whether the level is unknown until the next response, since `join` or `resize`. */
  #unknown = false;
  /** Tokens that other clients used, and the milliseconds in which they did; both decay. */
  #used = 0;
  #time = 0;
  /** Tokens that other clients are assumed to have used since the latest response. */
  #assumed = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** When the first request after a refusal may be sent. */
  #turnAt: number | undefined;
  readonly #size: BucketSize;

  constructor(size: BucketSize) {
    this.#size = size;
  }

  get present(): boolean {
    return this.#level !== undefined;
  }

  /** Records that another client has certainly taken tokens. */
  notice(likely: number, now: number): void {
    if (this.present) return;
    this.#level = likely;
    this.#at = now;
    this.#observedAt = now;
    this.#unknown = false;
    this.#used = 0;
    this.#time = 0;
    this.#assumed = 0;
  }

  /** Sets the number of clients, this one included, and this client's part of the level. */
  join(level: number, consumers: number, now: number): void {
    this.#level = undefined;
    this.notice(level, now);
    this.#unknown = true;
    this.#time = this.#over(minAssumed);
    this.#used = ((1 - 1 / consumers) * this.#time) / this.#size.interval;
  }

  /** Records that the bucket has another size: what its level was before shows no use of others. */
  resize(): void {
    this.#unknown = true;
  }

  /** Records that the service refuses requests until a time. */
  refuse(until: number): void {
    if (this.present) this.#turnAt = until + Math.random() * this.#over(spreadAfterHold);
  }

  /** Learns the likely level from a response. */
  observe(likely: number, now: number): void {
    if (this.#level === undefined) return;
    this.#refill(now);
    const elapsed = now - this.#observedAt;
    this.#observedAt = now;
    // After `join` this client knew a part of the level, after `resize` that of another bucket: the difference is not what others used.
    if (this.#unknown) {
      this.#unknown = false;
      this.#level = likely;
      this.#assumed = 0;
      return;
    }
    const decay = Math.exp(-elapsed / this.#over(averageOver));
    // The assumed use, corrected by the error of the level. A full bucket shows none.
    const { quota, inFlight } = this.#size;
    this.#used = likely >= quota - inFlight - 1 ? 0 : this.#used * decay + this.#assumed + this.#level - likely;
    this.#assumed = 0;
    this.#time = this.#time * decay + elapsed;
    this.#level = likely;
    const ofRefill = (this.#used / this.#time) * this.#size.interval;
    if (this.#time > this.#over(minAssumed) && ofRefill < noiseOfRefill) this.#level = undefined;
  }

  take(now: number): void {
    this.#sentAt = now;
    this.#turnAt = undefined;
    if (this.#level === undefined) return;
    this.#refill(now);
    this.#level -= 1;
  }

  /** Milliseconds until the next turn, or until it is checked again, because the level changes; 0 when it is now. */
  wait(now: number): number {
    return Math.min(this.untilTurn(now), Math.max(this.#size.interval, maxCheckInterval));
  }

  /** Milliseconds until this client's next turn at the present level; 0 when no other client is known. */
  untilTurn(now: number): number {
    if (this.#level === undefined) return 0;
    this.#refill(now);
    const { min, ofLevel, tokensApart } = inFlightAboveReserve;
    const crowded = this.#size.inFlight >= Math.max(min, ofLevel * this.#level) && this.#level > this.#reserve();
    const due = this.#turnAt ?? this.#sentAt + (crowded ? tokensApart * this.#size.interval : this.pace());
    return Math.max(0, due - now);
  }

  /** Milliseconds from one request to the next at the present level, or at the level after `after` milliseconds without one. */
  pace(after = 0): number {
    const { quota, interval } = this.#size;
    const level = Math.min(quota, (this.#level ?? quota) + after / interval);
    const part = Math.max(minPartOfReserve, level / this.#reserve());
    return interval / (part * Math.min(1, part));
  }

  /** The level does not include requests in flight: the longer the round trip, the larger the reserve, or the level swings. */
  #reserve(): number {
    const { quota, interval, roundTrip } = this.#size;
    const wanted = reserve.tokens + reserve.perRoundTrip * (Math.min(roundTrip, maxRoundTrip) / interval);
    return Math.max(1, Math.min(wanted, quota * reserve.ofQuota, reserve.ms / interval));
  }

  /** Tokens per millisecond that other clients use. The estimate falls while no response comes. */
  #rate(now: number): number {
    const time = this.#time + now - this.#observedAt;
    return time > 0 ? Math.max(0, this.#used / time) : 0;
  }

  /** Milliseconds, or the time of a number of tokens if that is longer. */
  #over({ ms, tokens }: { readonly ms: number; readonly tokens: number }): number {
    return Math.max(ms, tokens * this.#size.interval);
  }

  #refill(now: number): void {
    if (this.#level === undefined) return;
    const { quota, inFlight, interval } = this.#size;
    // A full bucket does not refill: requests in flight that it has not counted must not look like the use of others.
    const alone = Math.min(quota - inFlight, this.#level + (now - this.#at) / interval);
    this.#level = Math.max(Math.min(this.#level, alone), alone - (now - this.#at) * this.#rate(now));
    this.#assumed += alone - this.#level;
    this.#at = now;
  }
}
