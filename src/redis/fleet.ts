import { doubtfulDistance, type SentRequest } from "../http/pacing/bucket.ts";
import type { CeilingLimit } from "../http/pacing/ceiling.ts";
import type { PolicyReport, RateLimitReport } from "../http/pacing/headers.ts";
import { longer, type Wait } from "../http/pacing/queue.ts";
import type { Buckets, Grant, Member, PolicyLevel, TokenSource } from "../http/pacing/tokens.ts";
import type { RedisConnection } from "./connection.ts";
import { Exchange } from "./exchange.ts";
import { FleetState } from "./fleet-state.ts";
import { type Leases, leasesOf } from "./leases.ts";
import type { Stamp } from "./protocol.ts";
import { Reports } from "./reports.ts";

/**
 * The maximum number of tokens in one grant: a process that is killed loses no more. If the round trip to Redis is longer than `near`
 * milliseconds, the maximum grows in proportion, up to `times`; otherwise the round trip would limit the rate.
 */
const most = { tokens: 32, near: 20, times: 16 };
/** Milliseconds after which an unused token is returned: the fleet soon assumes that a silent process has ended. */
const lifetime = 1_000;
/** The longest time in milliseconds until the process asks again: a later response may correct a distant next token. */
const longestWait = 60_000;

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
  readonly #state: FleetState;
  readonly #own: Buckets;
  readonly #connection: RedisConnection;
  readonly #exchange: Exchange;
  readonly #reports: Reports;

  constructor(member: Member, connection: RedisConnection, keyOf: (policy: string) => string) {
    this.#state = new FleetState(member, connection, keyOf);
    this.#own = member.own;
    this.#connection = connection;
    this.#exchange = new Exchange(this.#state);
    this.#reports = new Reports(this.#state, this.#exchange);
    connection.onLost = () => this.#state.levels.handOver(this.#own, this.#state.now());
  }

  wait(policies: readonly string[], wanted: number): Wait | undefined {
    if (this.#connection.lost) {
      this.#retry(policies);
      return this.#own.wait(policies);
    }
    const now = this.#state.now();
    let held: Wait | undefined;
    for (const policy of policies) {
      const ms = this.#state.levels.heldUntil(policy) - now;
      if (ms > 0) held = longer(held, { ms, reason: "rate-limited", policy });
    }
    if (held !== undefined) return held;
    const leases = this.#state.pool.of(policies);
    this.#state.returnDue(now - lifetime);
    const mayAsk = now >= leases.askAt || this.#hasProbeReport(leases);
    // The process asks for more when its tokens last no longer than a visit takes.
    if (mayAsk && wanted > leases.size && (leases.lastsUntil ?? now) <= now + this.#connection.roundTrip)
      void this.#ask(leases, wanted);
    if (leases.next !== undefined) return this.#emptyFor(policies, leases.next.due - now);
    if (!mayAsk) return this.#emptyFor(policies, leases.askAt - now);
    // The exchange wakes the queues.
    return { ms: Number.POSITIVE_INFINITY, reason: "fleet", policy: "default" };
  }

  /** A wait for a token of the shared bucket that is the emptiest, or for the response that reports its level. */
  #emptyFor(policies: readonly string[], ms: number): Wait | undefined {
    if (ms <= 0) return undefined;
    const away = (policy: string) => this.level(policy).nextTokenIn;
    const policy = policies.reduce((one, other) => (away(other) > away(one) ? other : one));
    return { ms, reason: this.#state.levels.probing(policy) ? "probe" : "bucket-empty", policy };
  }

  take(policies: readonly string[]): Grant {
    const { requests } = this.#own.take(policies);
    const lease = this.#connection.lost ? undefined : this.#state.pool.of(policies).take();
    return lease === undefined ? { requests } : new FleetGrant(requests, lease.stamps);
  }

  observe(grant: Grant, report: RateLimitReport): readonly string[] | undefined {
    const named = this.#own.observe(grant, report);
    if (grant instanceof FleetGrant) {
      for (const [policy, stamp] of grant.stamps)
        this.#state.outbox.add(policy, stamp, this.#own.reportOf(policy, report));
      this.#reports.sendSoon();
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
    for (const policy of grant.requests.keys()) this.#state.outbox.touch(policy);
    this.#reports.sendSoon();
  }

  hold(policies: readonly string[], ms: number): void {
    this.#own.hold(policies, ms);
    this.#share(policies, Math.min(ms, doubtfulDistance));
  }

  /** Holds the policies for the whole fleet. After a long hold one process checks what the headers said. */
  #share(policies: readonly string[], ms: number): void {
    const until = this.#state.now() + ms;
    this.#state.pool.askAt(policies, until);
    for (const policy of policies) {
      this.#state.levels.hold(policy, until);
      this.#state.outbox.hold(policy, until);
    }
    void this.#reports.send();
  }

  away(policy: string): number {
    const own = this.#own.away(policy);
    if (this.#connection.lost) return own;
    const held = this.#state.levels.heldUntil(policy) - this.#state.now();
    if (held > 0) return Math.max(held, own);
    return this.#state.pool.tokens(policy) > 0 ? 0 : (this.#state.levels.away(policy, this.#state.now()) ?? own);
  }

  /** The fleet checks together: it holds the policy, and one process sends the first request after that. */
  mayCheck(policy: string, maxRetryAfter: number): boolean {
    if (this.#connection.lost) return this.#own.mayCheck(policy, maxRetryAfter);
    const away = this.away(policy);
    const held = this.#state.levels.heldUntil(policy) > this.#state.now();
    if (!held && away > Math.max(maxRetryAfter, doubtfulDistance)) {
      this.#own.hold([policy], away);
      this.#share([policy], maxRetryAfter);
    }
    return false;
  }

  level(policy: string): PolicyLevel {
    const own = this.#own.level(policy);
    return this.#connection.lost ? own : { ...own, ...this.#state.levels.level(policy, this.#state.now()) };
  }

  until(policy: string, tokens: number): number {
    const shared = this.#connection.lost ? undefined : this.#state.levels.until(policy, tokens, this.#state.now());
    return shared ?? this.#own.until(policy, tokens);
  }

  reserve(limit: CeilingLimit, slots: number): Promise<readonly number[]> {
    return this.#connection.reserve(limit, slots);
  }

  names(): Iterable<string> {
    return this.#own.names();
  }

  async #ask(leases: Leases, wanted: number): Promise<void> {
    if (this.#exchange.busy) return;
    const atOnce = Math.round(most.tokens * Math.min(most.times, Math.max(1, this.#connection.roundTrip / most.near)));
    const tokens = Math.min(wanted - leases.size, atOnce);
    const reply = await this.#exchange.run(leases.policies, tokens, Math.min(leases.used, atOnce - tokens));
    if (reply !== undefined) {
      const now = this.#state.now();
      leases.add(leasesOf(leases.policies, reply, now));
      leases.askAt = reply.dues.length > 0 ? now : now + Math.min(longestWait, Math.max(1, reply.wait));
    }
    this.#state.member.wake();
    this.#reports.sendSoon();
  }

  /** Whether this process has the report of the level that all processes wait for. */
  #hasProbeReport({ policies }: Leases): boolean {
    return policies.some((policy) => this.#state.levels.probing(policy) && this.#state.outbox.hasReport(policy));
  }

  /** Checks from time to time whether a lost store is back. */
  #retry(policies: readonly string[]): void {
    if (this.#exchange.busy || !this.#connection.mayRetry) return;
    this.#state.pool.clear();
    this.#state.outbox.clear();
    void this.#exchange.run(policies, 0, 0).then(() => this.#state.member.wake());
  }
}
