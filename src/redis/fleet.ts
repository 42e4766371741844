import { doubtfulDistance, type Ending } from "../http/pacing/bucket.ts";
import { type CeilingLimit, slotExpiresAfter } from "../http/pacing/ceiling.ts";
import type { RateLimitReport } from "../http/pacing/headers.ts";
import type { Buckets, Member, PolicyLevel, TakenTokens, TokenSource } from "../http/pacing/tokens.ts";
import { longer, type Wait } from "../http/pacing/wait.ts";
import { webCrypto } from "../util/runtime.ts";
import type { RedisConnection } from "./connection.ts";
import { Grants, grantsOf } from "./grants.ts";
import type { Reply, Stamp } from "./protocol.ts";
import { SharedBucket } from "./shared-bucket.ts";

/** The maximum number of tokens in one tokens: a process that is killed loses no more. */
const maxTokens = 32;
/** With a longer round trip to Redis, in milliseconds, this maximum grows in proportion, or the round trip would limit the rate. */
const nearRoundTrip = 20;
/** The most by which it grows. */
const maxGrowth = 16;
/** The longest time in milliseconds until the process asks again: a later response may correct a distant next token. */
const maxWait = 60_000;
/** Reports wait this many milliseconds, plus two visits, for a request for tokens that carries them; then they are sent alone. */
const reportDelay = 100;

/**
 * Takes tokens from the buckets that a fleet shares, a few at a time, and reports the responses to the fleet.
 *
 * The process keeps its own buckets up to date all the time. For them the rest of the fleet are other clients, so that they can share
 * without the storage as soon as the storage is lost.
 */
export class Fleet implements TokenSource {
  readonly #member: Member;
  readonly #own: Buckets;
  readonly #connection: RedisConnection;
  readonly #keyOf: (policy: string) => string;
  readonly #process = webCrypto().randomUUID().slice(0, 8);
  readonly #buckets = new Map<string, SharedBucket>();
  /** By the policies of a queue. */
  readonly #grants = new Map<string, Grants>();
  /** The stamps of the requests whose tokens the fleet granted. */
  readonly #stamps = new WeakMap<TakenTokens, ReadonlyMap<string, Stamp>>();
  /** Whether a visit is in progress. There is one at a time, because each reports all tokens that this process holds. */
  #visiting = false;
  #reportsDue = false;
  /** Until then the tokens are kept, for slots of the ceiling. */
  #keepUntil = 0;

  constructor(member: Member, connection: RedisConnection, keyOf: (policy: string) => string) {
    this.#member = member;
    this.#own = member.own;
    this.#connection = connection;
    this.#keyOf = keyOf;
    connection.onLost = () => this.#handOver();
  }

  wait(policies: readonly string[], now: number, wanted: number): Wait | undefined {
    if (this.#connection.lost) {
      this.#retry(policies);
      return this.#own.wait(policies, now);
    }
    let held: Wait | undefined;
    for (const policy of policies) {
      const ms = this.#bucket(policy).held(now);
      if (ms > 0) held = longer(held, { ms, reason: "rate-limited", policy });
    }
    if (held !== undefined) return held;
    const grants = this.#grantsOf(policies);
    this.#returnDue();
    const mayAsk = now >= grants.askAt || policies.some((policy) => this.#hasProbeReport(policy));
    // The process asks for more when its tokens last no longer than a visit takes.
    if (mayAsk && wanted > grants.size && (grants.lastsUntil ?? now) <= now + this.#connection.roundTrip)
      void this.#ask(grants, wanted);
    if (grants.next !== undefined) return this.#emptyFor(policies, grants.next.due - now);
    if (!mayAsk) return this.#emptyFor(policies, grants.askAt - now);
    // The visit wakes the queues.
    return { ms: Number.POSITIVE_INFINITY, reason: "fleet", policy: "default" };
  }

  isHeld(policies: readonly string[], now: number): boolean {
    if (this.#connection.lost) return this.#own.isHeld(policies, now);
    return policies.some((policy) => this.#bucket(policy).held(now) > 0);
  }

  /** A wait for a token of the shared bucket that is the emptiest, for the fleet's turn at it, or for the response that reports its level. */
  #emptyFor(policies: readonly string[], ms: number): Wait | undefined {
    if (ms <= 0) return undefined;
    const away = (policy: string) => this.level(policy).nextTokenIn;
    const policy = policies.reduce((one, other) => (away(other) > away(one) ? other : one));
    const { probing, shared } = this.#bucket(policy);
    return { ms, reason: probing ? "probe" : shared ? "fair-share" : "bucket-empty", policy };
  }

  take(policies: readonly string[], now: number): TakenTokens {
    const tokens = this.#own.take(policies, now);
    const grant = this.#connection.lost ? undefined : this.#grantsOf(policies).take();
    if (grant !== undefined) this.#stamps.set(tokens, grant.stamps);
    return tokens;
  }

  observe(tokens: TakenTokens, report: RateLimitReport, now: number): readonly string[] | undefined {
    const named = this.#own.observe(tokens, report, now);
    const stamps = this.#stamps.get(tokens);
    if (stamps !== undefined) {
      for (const [policy, stamp] of stamps) this.#bucket(policy).addReport(stamp, this.#own.reportOf(policy, report));
      this.#reportSoon();
    }
    return named;
  }

  forget(tokens: TakenTokens, ending: Ending): void {
    // The fleet's probe is one request: in an outage all calls would wait for the next one, so that a gateway's response ends it.
    if (ending === "gateway") return void this.observe(tokens, new Map(), this.#now());
    this.#own.forget(tokens, ending);
    const unused = ending === "unsent" && this.#stamps.has(tokens) ? 1 : 0;
    for (const policy of tokens.keys()) this.#bucket(policy).returnTokens(unused);
    this.#reportSoon();
  }

  hold(policies: readonly string[], ms: number): void {
    this.#own.hold(policies, ms);
    this.#share(policies, Math.min(ms, doubtfulDistance));
  }

  /** Holds the policies for the whole fleet. After a long hold one process checks what the headers said. */
  #share(policies: readonly string[], ms: number): void {
    const until = this.#now() + ms;
    for (const grants of this.#grants.values()) {
      if (overlap(grants.policies, policies)) grants.askAt = Math.min(grants.askAt, until);
    }
    for (const policy of policies) this.#bucket(policy).hold(until);
    void this.#report();
  }

  distance(policy: string): number {
    const own = this.#own.distance(policy);
    if (this.#connection.lost) return own;
    const now = this.#now();
    const held = this.#bucket(policy).held(now);
    if (held > 0) return Math.max(held, own);
    return this.#tokens(policy) > 0 ? 0 : (this.#bucket(policy).distance(now) ?? own);
  }

  /** The fleet checks together: it holds the policy, and one process sends the first request after that. */
  mayCheck(policy: string, maxRetryAfter: number): boolean {
    if (this.#connection.lost) return this.#own.mayCheck(policy, maxRetryAfter);
    const distance = this.distance(policy);
    const held = this.#bucket(policy).held(this.#now()) > 0;
    if (!held && distance > Math.max(maxRetryAfter, doubtfulDistance)) {
      this.#own.hold([policy], distance);
      this.#share([policy], maxRetryAfter);
    }
    return false;
  }

  level(policy: string): PolicyLevel {
    const own = this.#own.level(policy);
    return this.#connection.lost ? own : { ...own, ...this.#bucket(policy).level(this.#now()) };
  }

  until(policy: string, tokens: number): number {
    const shared = this.#connection.lost ? undefined : this.#bucket(policy).until(tokens, this.#now());
    return shared ?? this.#own.until(policy, tokens);
  }

  /**
   * Reserves no more slots than it holds tokens, and keeps the tokens for these slots: a slot without a token would be lost. The call of the
   * first slot has its token already. A single slot can be far away, and other processes need the tokens until then.
   */
  async reserve(limit: CeilingLimit, slots: number): Promise<readonly number[]> {
    let tokens = 1;
    for (const { size } of this.#grants.values()) tokens += size;
    this.#keepUntil = Number.POSITIVE_INFINITY;
    const waits = await this.#connection.reserve(limit, Math.min(slots, tokens));
    this.#keepUntil = waits.length > 1 ? this.#now() + (waits.at(-1) ?? 0) + slotExpiresAfter : 0;
    return waits;
  }

  #now(): number {
    return this.#member.clock.now();
  }

  #bucket(policy: string): SharedBucket {
    let bucket = this.#buckets.get(policy);
    if (bucket === undefined) {
      bucket = new SharedBucket();
      this.#buckets.set(policy, bucket);
    }
    return bucket;
  }

  /** The tokens for requests that draw from these policies. */
  #grantsOf(policies: readonly string[]): Grants {
    // No policy has a line break in its name.
    const key = policies.join("\n");
    let grants = this.#grants.get(key);
    if (grants === undefined) {
      grants = new Grants(policies);
      this.#grants.set(key, grants);
    }
    return grants;
  }

  /** Tokens of a policy that this process holds. */
  #tokens(policy: string): number {
    let tokens = 0;
    for (const { policies, size } of this.#grants.values()) if (policies.includes(policy)) tokens += size;
    return tokens;
  }

  /** Whether this process has the report of the level that all processes wait for. */
  #hasProbeReport(policy: string): boolean {
    const { probing, hasReport } = this.#bucket(policy);
    return probing && hasReport;
  }

  /** Returns the tokens that no call has used: those that were due long ago, or all that are due. */
  #returnDue(early = false): void {
    if (this.#now() < this.#keepUntil) return;
    for (const grants of this.#grants.values()) {
      const unused = grants.returnDue(this.#now(), early);
      if (unused > 0) for (const policy of grants.policies) this.#bucket(policy).returnTokens(unused);
    }
  }

  async #ask(grants: Grants, wanted: number): Promise<void> {
    if (this.#visiting) return;
    const growth = Math.min(maxGrowth, Math.max(1, this.#connection.roundTrip / nearRoundTrip));
    const atOnce = Math.round(maxTokens * growth);
    const tokens = Math.min(wanted - grants.size, atOnce);
    const reply = await this.#visit(grants.policies, tokens, Math.min(grants.used, atOnce - tokens));
    if (reply !== undefined) {
      const now = this.#now();
      grants.add(grantsOf(grants.policies, reply, now));
      grants.askAt = reply.dues.length > 0 ? now : now + Math.min(maxWait, Math.max(1, reply.wait));
    }
    this.#member.wake();
    this.#reportSoon();
  }

  /**
   * Reports what this process knows, and asks for `wanted` tokens that calls wait for and `stock` tokens for the next calls. Resolves to
   * undefined if the storage is lost.
   */
  async #visit(policies: readonly string[], wanted: number, stock: number): Promise<Reply | undefined> {
    this.#visiting = true;
    const now = this.#now();
    const reply = await this.#connection.exchange(policies.map(this.#keyOf), {
      process: this.#process,
      wanted,
      stock,
      roundTrip: Math.max(...policies.map((policy) => this.#own.bucket(policy).roundTrip)),
      visit: this.#connection.roundTrip,
      policies: policies.map((policy) => {
        const { quota, window, inFlight } = this.#own.bucket(policy);
        const underWay = inFlight + this.#tokens(policy);
        return { quota, window, underWay, ...this.#bucket(policy).takeReports(now) };
      }),
    });
    this.#visiting = false;
    if (reply !== undefined) this.#learn(policies, reply);
    return reply;
  }

  /** Learns from a visit. The tokens of a bucket that was replaced are dropped. */
  #learn(policies: readonly string[], reply: Reply): void {
    const now = this.#now();
    const known = new Map(policies.map((policy, index) => [policy, reply.policies[index]]));
    const replaced = [...known].filter(
      ([policy, state]) => state && this.#bucket(policy).observe(state, reply.dues.length, now),
    );
    const names = replaced.map(([policy]) => policy);
    for (const grants of this.#grants.values()) if (overlap(grants.policies, names)) grants.clear();
  }

  /** Reports after a delay, unless a request for tokens does so before. */
  #reportSoon(): void {
    const holdsTokens = [...this.#grants.values()].some(({ size }) => size > 0);
    if (this.#reportsDue || (this.#changed().length === 0 && !holdsTokens)) return;
    this.#reportsDue = true;
    this.#member.clock.after(reportDelay + 2 * this.#connection.roundTrip, () => {
      this.#reportsDue = false;
      void this.#report();
    });
  }

  /** Reports everything, and returns the unused tokens. */
  async #report(): Promise<void> {
    // The program may have closed its connection after the last call.
    if (this.#connection.down) return;
    if (!this.#visiting && !this.#connection.lost) {
      this.#returnDue(true);
      const policies = this.#changed();
      if (policies.length > 0) await this.#visit(policies, 0, 0);
      this.#member.wake();
    }
    if (!this.#connection.lost) this.#reportSoon();
  }

  /** The policies with something to report. */
  #changed(): readonly string[] {
    return [...this.#buckets].filter(([, { changed }]) => changed).map(([policy]) => policy);
  }

  /** Checks from time to time whether a lost storage is back. */
  #retry(policies: readonly string[]): void {
    if (this.#visiting || !this.#connection.mayRetry) return;
    for (const grants of this.#grants.values()) grants.clear();
    for (const bucket of this.#buckets.values()) bucket.dropReports();
    void this.#visit(policies, 0, 0).then(() => this.#member.wake());
  }

  /**
   * Prepares the process's own buckets for the time without the storage. They may not know the other processes yet: each bucket shares
   * with them from the start, with an equal part of the level.
   */
  #handOver(): void {
    for (const [policy, bucket] of this.#buckets) {
      const { active } = bucket;
      const { remaining = 0 } = bucket.level(this.#now()) ?? {};
      if (active > 1) this.#own.bucket(policy).join(remaining / active, active, this.#now());
    }
  }
}

const overlap = (some: readonly string[], others: readonly string[]) => some.some((policy) => others.includes(policy));
