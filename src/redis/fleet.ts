import type { Buckets } from "../http/pacing/bucket/buckets.ts";
import type { SentRequest } from "../http/pacing/bucket/sent-request.ts";
import type { Grant, PolicyLevel, TokenSource } from "../http/pacing/bucket/token-source.ts";
import type { CeilingLimit } from "../http/pacing/ceiling.ts";
import { isDoubtful } from "../http/pacing/distance.ts";
import type { PolicyReport, RateLimitReport } from "../http/pacing/headers.ts";
import type { Member } from "../http/pacing/store.ts";
import type { RedisConnection } from "./connection.ts";
import { LeasePool } from "./lease-pool.ts";
import { type Leases, leasesOf } from "./leases.ts";
import { Outbox } from "./outbox.ts";
import type { Reply, Stamp } from "./protocol.ts";
import { SharedLevels } from "./shared-levels.ts";

/**
 * The maximum number of tokens in one grant: a process that is killed loses no more. If the round trip to Redis is longer than `near`
 * milliseconds, the maximum grows in proportion, up to `times`; otherwise the round trip would limit the rate.
 */
const most = { tokens: 32, near: 20, times: 16 };
/** Milliseconds after which an unused token is returned: the fleet soon assumes that a silent process has ended. */
const lifetime = 1_000;
/** The longest time in milliseconds until the process asks again: a later response may correct a distant next token. */
const longestWait = 60_000;
/** Reports wait this many milliseconds, plus two visits, for a request for tokens that carries them; then they are sent alone. */
const reportDelay = 100;

/** The tokens of a request that the fleet granted. */
class FleetGrant implements Grant {
  readonly requests: ReadonlyMap<string, SentRequest>;
  readonly stamps: ReadonlyMap<string, Stamp>;

  constructor(requests: ReadonlyMap<string, SentRequest>, stamps: ReadonlyMap<string, Stamp>) {
    this.requests = requests;
    this.stamps = stamps;
  }
}

/**
 * Takes tokens from the buckets that a fleet shares, a few at a time, and reports the responses to the fleet.
 *
 * The process keeps its own buckets up to date all the time. For them the rest of the fleet are other clients, so that they can share
 * without the store as soon as the store is lost.
 */
export class Fleet implements TokenSource {
  readonly #member: Member;
  readonly #own: Buckets;
  readonly #connection: RedisConnection;
  readonly #keyOf: (policy: string) => string;
  readonly #process = globalThis.crypto.randomUUID().slice(0, 8);
  readonly #pool = new LeasePool();
  readonly #outbox = new Outbox();
  readonly #levels = new SharedLevels();
  /** Whether an exchange is in progress. There is one at a time, because each reports all tokens that this process holds. */
  #busy = false;
  #stopTimer: (() => void) | undefined;

  constructor(member: Member, connection: RedisConnection, keyOf: (policy: string) => string) {
    this.#member = member;
    this.#own = member.own;
    this.#connection = connection;
    this.#keyOf = keyOf;
    connection.onLost = () => this.#levels.handOver(this.#own, this.#now());
  }

  wait(policies: readonly string[], wanted: number): number {
    if (this.#connection.lost) {
      if (wanted > 0) this.#retry(policies);
      return this.#own.wait(policies);
    }
    if (wanted === 0) return Math.max(...policies.map((policy) => this.level(policy).nextTokenIn));
    const now = this.#now();
    const held = Math.max(...policies.map((policy) => this.#levels.heldUntil(policy)));
    if (now < held) return held - now;
    const leases = this.#pool.of(policies);
    this.#returnDue(now - lifetime);
    const mayAsk = now >= leases.askAt || this.#hasProbeReport(leases);
    // The process asks for more when its tokens last no longer than a visit takes.
    if (mayAsk && wanted > leases.size && (leases.lastsUntil ?? now) <= now + this.#connection.roundTrip)
      void this.#ask(leases, wanted);
    if (leases.next !== undefined) return Math.max(0, leases.next.due - now);
    return mayAsk ? Number.POSITIVE_INFINITY : leases.askAt - now;
  }

  take(policies: readonly string[]): Grant {
    const { requests } = this.#own.take(policies);
    const lease = this.#connection.lost ? undefined : this.#pool.of(policies).take();
    return lease === undefined ? { requests } : new FleetGrant(requests, lease.stamps);
  }

  observe(grant: Grant, report: RateLimitReport): readonly string[] | undefined {
    const named = this.#own.observe(grant, report);
    if (grant instanceof FleetGrant) {
      for (const [policy, stamp] of grant.stamps) this.#outbox.add(policy, stamp, this.#own.reportOf(policy, report));
      this.#reportSoon();
    }
    return named;
  }

  observeNew(policy: string, report: RateLimitReport): void {
    this.#own.observeNew(policy, report);
  }

  reportOf(policy: string, report: RateLimitReport): PolicyReport | undefined {
    return this.#own.reportOf(policy, report);
  }

  forget(grant: Grant): void {
    this.#own.forget(grant);
    for (const policy of grant.requests.keys()) this.#outbox.touch(policy);
    this.#reportSoon();
  }

  hold(policies: readonly string[], ms: number, retryAfter: number): void {
    this.#own.hold(policies, ms, retryAfter);
    const until = this.#now() + ms;
    this.#pool.askAt(policies, until);
    for (const policy of policies) {
      this.#levels.hold(policy, until);
      this.#outbox.hold(policy, until);
    }
    void this.#report();
  }

  away(policy: string): number {
    const own = this.#own.away(policy);
    if (this.#connection.lost) return own;
    const held = this.#levels.heldUntil(policy) - this.#now();
    if (held > 0) return Math.max(held, own);
    return this.#pool.tokens(policy) > 0 ? 0 : (this.#levels.away(policy, this.#now()) ?? own);
  }

  probeAfter(policy: string, patience: number): void {
    const away = this.away(policy);
    const held = this.#levels.heldUntil(policy) > this.#now();
    if (this.#connection.lost) this.#own.probeAfter(policy, patience);
    else if (!held && isDoubtful(away, patience)) this.hold([policy], patience, away);
  }

  level(policy: string): PolicyLevel {
    const own = this.#own.level(policy);
    return this.#connection.lost ? own : { ...own, ...this.#levels.level(policy, this.#now()) };
  }

  until(policy: string, tokens: number): number {
    const shared = this.#connection.lost ? undefined : this.#levels.until(policy, tokens, this.#now());
    return shared ?? this.#own.until(policy, tokens);
  }

  reserve(limit: CeilingLimit): Promise<number> {
    return this.#connection.reserve(limit);
  }

  names(): Iterable<string> {
    return this.#own.names();
  }

  #now(): number {
    return this.#member.clock.now();
  }

  async #ask(leases: Leases, wanted: number): Promise<void> {
    if (this.#busy) return;
    const atOnce = Math.round(most.tokens * Math.min(most.times, Math.max(1, this.#connection.roundTrip / most.near)));
    const tokens = Math.min(wanted - leases.size, atOnce);
    const reply = await this.#exchange(leases.policies, tokens, Math.min(leases.used, atOnce - tokens));
    if (reply !== undefined) {
      const now = this.#now();
      leases.add(leasesOf(leases.policies, reply, now));
      leases.askAt = reply.dues.length > 0 ? now : now + Math.min(longestWait, Math.max(1, reply.wait));
    }
    this.#member.wake();
    this.#reportSoon();
  }

  /** Whether this process has the report of the level that all processes wait for. */
  #hasProbeReport({ policies }: Leases): boolean {
    return policies.some((policy) => this.#levels.probing(policy) && this.#outbox.hasReport(policy));
  }

  /** Checks from time to time whether a lost store is back. */
  #retry(policies: readonly string[]): void {
    if (this.#busy || !this.#connection.mayRetry) return;
    this.#pool.clear();
    this.#outbox.clear();
    void this.#exchange(policies, 0, 0).then(() => this.#member.wake());
  }

  #reportSoon(): void {
    if (this.#stopTimer !== undefined || !this.#hasReports()) return;
    this.#stopTimer = this.#member.clock.after(reportDelay + 2 * this.#connection.roundTrip, () => {
      this.#stopTimer = undefined;
      void this.#report();
    });
  }

  #hasReports(): boolean {
    return this.#outbox.policies.length > 0 || !this.#pool.empty;
  }

  /** Returns the tokens that were due by `before`: no call waits for them. */
  #returnDue(before: number): void {
    for (const [policy, unused] of this.#pool.returnDue(before)) this.#outbox.returnTokens(policy, unused);
  }

  /** Sends all reports, and returns the unused tokens. */
  async #report(): Promise<void> {
    if (!this.#busy && !this.#connection.lost) {
      this.#returnDue(this.#now());
      const { policies } = this.#outbox;
      if (policies.length > 0) await this.#exchange(policies, 0, 0);
      this.#member.wake();
    }
    if (!this.#connection.lost) this.#reportSoon();
  }

  async #exchange(policies: readonly string[], wanted: number, stock: number): Promise<Reply | undefined> {
    this.#busy = true;
    const now = this.#now();
    const roundTrips = policies.map((policy) => this.#own.bucket(policy).roundTrip);
    const reply = await this.#connection.exchange(policies.map(this.#keyOf), {
      process: this.#process,
      wanted,
      stock,
      roundTrip: Math.max(...roundTrips),
      visit: this.#connection.roundTrip,
      policies: policies.map((policy) => {
        const { quota, window } = this.#own.bucket(policy);
        const bucket = { quota, window, born: this.#levels.born(policy) };
        return { ...bucket, underWay: this.#underWay(policy), ...this.#outbox.take(policy, now) };
      }),
    });
    this.#busy = false;
    // Tokens of a bucket that was replaced are dropped.
    if (reply !== undefined) this.#pool.drop(this.#levels.observe(policies, reply, this.#now()));
    return reply;
  }

  /** Tokens of a policy that this process holds, and its requests in flight. */
  #underWay(policy: string): number {
    return this.#own.bucket(policy).inFlight + this.#pool.tokens(policy);
  }
}
