import type { Moment, PartnerClock } from "../util/clock.ts";
import { momentOf } from "../util/clock.ts";
import { type CreationTimes, longSearch, searchTime } from "./outcome.ts";

/** A request whose outcome is unknown. */
export interface Doubt {
  /** When it was first sent. */
  readonly since: Moment;
  /** The clock's time until which the service may still carry it out. */
  readonly until: number;
}

/** A 429. */
interface Refusal {
  readonly error: unknown;
  /** Milliseconds to wait after it. */
  readonly ms: number;
  /** Whether the pacer holds the policies for that time. */
  readonly held: boolean;
}

/** What is known of the requests of one call. It owns the doubt: whether the service may have carried one out, since when and until when. */
export class Attempts {
  readonly #clock: PartnerClock;
  readonly #times: CreationTimes;
  #count = 0;
  #mayHaveHappened = 0;
  #isAnnounced = false;
  #status: number | undefined;
  #firstSent: Moment | undefined;
  #sentAt = 0;
  #lostUntil: number | undefined;
  #inherited: Doubt | undefined;
  #isRuledOut = false;
  #lookedAt: Moment | undefined;
  #refusal: Refusal | undefined;
  #identifiers: Readonly<Record<string, unknown>> | undefined;

  constructor(clock: PartnerClock, times: CreationTimes) {
    this.#clock = clock;
    this.#times = times;
  }

  /** The number of requests that were sent. */
  get count(): number {
    return this.#count;
  }

  /** The number of requests that the service has carried out, or may have. */
  get mayHaveHappened(): number {
    return this.#mayHaveHappened;
  }

  /** Whether the service may have carried out a request of this call, or of the earlier one whose doubt it has inherited. */
  get inDoubt(): boolean {
    return !this.#isRuledOut && (this.#mayHaveHappened > 0 || this.#inherited !== undefined);
  }

  /** The HTTP status of the latest attempt; undefined without a response. */
  get status(): number | undefined {
    return this.#status;
  }

  /** When the first request was sent; undefined before that. */
  get firstSent(): Moment | undefined {
    return this.#firstSent;
  }

  /** The clock's time until which the service may carry out a request whose response was lost; undefined if none was. */
  get lostUntil(): number | undefined {
    return this.#lostUntil;
  }

  /** The latest look-up shows the state at this time or later; undefined before the first look-up. */
  get lookedAt(): Moment | undefined {
    return this.#lookedAt;
  }

  /** What identifies the creation whose outcome is in doubt; undefined if none is. */
  get identifiers(): Readonly<Record<string, unknown>> | undefined {
    return this.inDoubt ? this.#identifiers : undefined;
  }

  /** Sets what identifies the creation that the requests ask for. */
  identify(identifiers: Readonly<Record<string, unknown>> | undefined): void {
    this.#identifiers = identifiers;
  }

  /** Takes over the doubt of an earlier call. */
  inherit(doubt: Doubt): void {
    this.#inherited = doubt;
    this.#firstSent = doubt.since;
    this.#lostUntil = doubt.until;
  }

  /** Returns whether the next attempt must be announced: once, even if its request is prepared again after another look-up. */
  announce(): boolean {
    const isNew = !this.#isAnnounced;
    this.#isAnnounced = true;
    return isNew;
  }

  /** The request leaves now. */
  begin(): Moment {
    const now = momentOf(this.#clock);
    this.#isAnnounced = false;
    this.#count += 1;
    this.#mayHaveHappened += 1;
    this.#status = undefined;
    this.#sentAt = now.at;
    this.#firstSent ??= now;
    return now;
  }

  /** The head of the response has arrived. */
  responded(status: number): void {
    this.#status = status;
  }

  /** The service did not carry out the latest request. */
  didNothing(): void {
    this.#mayHaveHappened -= 1;
  }

  /** The service refused the latest request for its rate limit. */
  refused(refusal: Refusal): void {
    this.#refusal = refusal;
  }

  /** The latest refusal, if it has this error. */
  refusalOf(error: unknown): Refusal | undefined {
    return this.#refusal?.error === error ? this.#refusal : undefined;
  }

  /** The response to the latest request was lost, with this error. */
  lost(error: unknown): void {
    const now = this.#clock.now();
    const until = now + searchTime(error, now - this.#sentAt, this.#times);
    this.#lostUntil = Math.max(this.#lostUntil ?? until, until);
  }

  /** A look-up has ended. It shows the state at this time or later. */
  lookedUp(at: Moment): void {
    this.#lookedAt = at;
  }

  /** It is certain that no request of the call was carried out. */
  ruleOut(): void {
    this.#isRuledOut = true;
  }

  /** The doubt that a later call with the same request inherits if this one fails now; undefined if nothing is in doubt. */
  get doubt(): Doubt | undefined {
    if (this.#isRuledOut) return undefined;
    const now = momentOf(this.#clock);
    const own = this.#mayHaveHappened > 0 ? now.at + longSearch(now.at - this.#sentAt, this.#times) : undefined;
    const until = Math.max(own ?? 0, this.#lostUntil ?? 0);
    return own === undefined && this.#lostUntil === undefined ? undefined : { since: this.#firstSent ?? now, until };
  }
}
