import type { Buckets } from "../http/pacing/bucket/buckets.ts";
import type { SentRequest } from "../http/pacing/bucket/sent-request.ts";
import type { Grant, PolicyLevel, TokenSource } from "../http/pacing/bucket/token-source.ts";
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
 * Tokens in one grant at the most: a process that is killed takes no more along. Where Redis is farther than `near`, in
 * milliseconds, it is more in proportion, up to so many times: else the way would limit what can be saved up and used.
 */
const most = { tokens: 32, near: 20, times: 16 };
/** Milliseconds after which an unused token is not used any more: the fleet may take this process for dead soon. */
const lifetime = 1_000;
/** Milliseconds after which tokens are asked for again at the latest: a header that puts the next one far away may be corrected. */
const longestWait = 60_000;
/** Milliseconds after which what is new is told by itself, when no request for tokens takes it along; and two visits. */
const newsAge = 100;

/** What a request holds that was granted by the fleet. */
class FleetGrant implements Grant {
  readonly requests: ReadonlyMap<string, SentRequest>;
  readonly stamps: ReadonlyMap<string, Stamp>;

  constructor(requests: ReadonlyMap<string, SentRequest>, stamps: ReadonlyMap<string, Stamp>) {
    this.requests = requests;
    this.stamps = stamps;
  }
}

/**
 * Takes tokens from the buckets that a fleet shares, a few at a time, and tells the fleet what the answers say.
 *
 * The process's own pictures go along all the time. To them the rest of the fleet looks like strangers, so they are ready to share
 * without talking at any moment: when the store is lost.
 */
export class Fleet implements TokenSource {
  readonly #member: Member;
  readonly #own: Buckets;
  readonly #link: RedisConnection;
  readonly #keyOf: (policy: string) => string;
  readonly #process = globalThis.crypto.randomUUID().slice(0, 8);
  readonly #pool = new LeasePool();
  readonly #outbox = new Outbox();
  readonly #levels = new SharedLevels();
  /** One exchange at a time: each tells how much is in this process's hands, all told. */
  #busy = false;
  #stopTimer: (() => void) | undefined;

  constructor(member: Member, link: RedisConnection, keyOf: (policy: string) => string) {
    this.#member = member;
    this.#own = member.own;
    this.#link = link;
    this.#keyOf = keyOf;
    link.onLost = () => this.#levels.handOver(this.#own, this.#now());
  }

  wait(policies: readonly string[], wanted: number): number {
    if (this.#link.lost) {
      if (wanted > 0) this.#knock(policies);
      return this.#own.wait(policies);
    }
    if (wanted === 0) return Math.max(...policies.map((policy) => this.level(policy).nextTokenIn));
    const now = this.#now();
    const held = Math.max(...policies.map((policy) => this.#levels.heldUntil(policy)));
    if (now < held) return held - now;
    const line = this.#pool.of(policies);
    this.#giveBack(now - lifetime);
    const worthAsking = now >= line.askAt || this.#hasScout(line);
    // The next tokens are asked for when those in hand last no longer than a visit takes.
    if (worthAsking && wanted > line.size && (line.lastsUntil ?? now) <= now + this.#link.way)
      void this.#ask(line, wanted);
    if (line.next !== undefined) return Math.max(0, line.next.due - now);
    return worthAsking ? Number.POSITIVE_INFINITY : line.askAt - now;
  }

  intervalOf(policies: readonly string[]): number {
    return this.#link.lost ? this.#own.intervalOf(policies) : 0;
  }

  take(policies: readonly string[]): Grant {
    const { requests } = this.#own.take(policies);
    const lease = this.#link.lost ? undefined : this.#pool.of(policies).take();
    return lease === undefined ? { requests } : new FleetGrant(requests, lease.stamps);
  }

  observe(grant: Grant, report: RateLimitReport): readonly string[] | undefined {
    const named = this.#own.observe(grant, report);
    if (grant instanceof FleetGrant) {
      for (const [policy, stamp] of grant.stamps)
        this.#outbox.answer(policy, stamp, this.#own.reportOf(policy, report));
      this.#tellSoon();
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
    for (const policy of grant.requests.keys()) this.#outbox.stir(policy);
    this.#tellSoon();
  }

  hold(policies: readonly string[], ms: number, retryAfter: number): void {
    this.#own.hold(policies, ms, retryAfter);
    const until = this.#now() + ms;
    this.#pool.askAt(policies, until);
    for (const policy of policies) {
      this.#levels.hold(policy, until);
      this.#outbox.hold(policy, until);
    }
    void this.#tell();
  }

  away(policy: string): number {
    const own = this.#own.away(policy);
    if (this.#link.lost) return own;
    const held = this.#levels.heldUntil(policy) - this.#now();
    if (held > 0) return Math.max(held, own);
    return this.#pool.tokens(policy) > 0 ? 0 : (this.#levels.away(policy, this.#now()) ?? own);
  }

  probeAfter(policy: string, patience: number): void {
    const away = this.away(policy);
    const held = this.#levels.heldUntil(policy) > this.#now();
    if (this.#link.lost) this.#own.probeAfter(policy, patience);
    else if (!held && isDoubtful(away, patience)) this.hold([policy], patience, away);
  }

  level(policy: string): PolicyLevel {
    const own = this.#own.level(policy);
    return this.#link.lost ? own : { ...own, ...this.#levels.level(policy, this.#now()) };
  }

  until(policy: string, tokens: number): number {
    const shared = this.#link.lost ? undefined : this.#levels.until(policy, tokens, this.#now());
    return shared ?? this.#own.until(policy, tokens);
  }

  names(): Iterable<string> {
    return this.#own.names();
  }

  #now(): number {
    return this.#member.clock.now();
  }

  async #ask(line: Leases, wanted: number): Promise<void> {
    if (this.#busy) return;
    const atOnce = Math.round(most.tokens * Math.min(most.times, Math.max(1, this.#link.way / most.near)));
    const tokens = Math.min(wanted - line.size, atOnce);
    const reply = await this.#exchange(line.policies, tokens, Math.min(line.used, atOnce - tokens));
    if (reply !== undefined) {
      const now = this.#now();
      line.add(leasesOf(line.policies, reply, now));
      line.askAt = reply.dues.length > 0 ? now : now + Math.min(longestWait, Math.max(1, reply.wait));
    }
    this.#member.wake();
    this.#tellSoon();
  }

  /** Whether this process has the answer that tells what a bucket holds, which all wait for. */
  #hasScout({ policies }: Leases): boolean {
    return policies.some((policy) => this.#levels.scouting(policy) && this.#outbox.hasAnswer(policy));
  }

  /** While the store is lost: looks now and then whether it is back. */
  #knock(policies: readonly string[]): void {
    if (this.#busy || !this.#link.worthATry) return;
    this.#pool.clear();
    this.#outbox.clear();
    void this.#exchange(policies, 0, 0).then(() => this.#member.wake());
  }

  #tellSoon(): void {
    if (this.#stopTimer !== undefined || !this.#hasNews()) return;
    this.#stopTimer = this.#member.clock.after(newsAge + 2 * this.#link.way, () => {
      this.#stopTimer = undefined;
      void this.#tell();
    });
  }

  #hasNews(): boolean {
    return this.#outbox.policies.length > 0 || !this.#pool.empty;
  }

  /** Gives back the tokens that have been due since `before`: whoever waited would have used them. */
  #giveBack(before: number): void {
    for (const [policy, unused] of this.#pool.returnDue(before)) this.#outbox.giveBack(policy, unused);
  }

  /** Tells all that is new, and gives back the tokens that nobody uses. */
  async #tell(): Promise<void> {
    if (!this.#busy && !this.#link.lost) {
      this.#giveBack(this.#now());
      const { policies } = this.#outbox;
      if (policies.length > 0) await this.#exchange(policies, 0, 0);
      this.#member.wake();
    }
    if (!this.#link.lost) this.#tellSoon();
  }

  async #exchange(policies: readonly string[], wanted: number, stock: number): Promise<Reply | undefined> {
    this.#busy = true;
    const now = this.#now();
    const ways = policies.map((policy) => this.#own.bucket(policy).roundTrip);
    const reply = await this.#link.exchange(policies.map(this.#keyOf), {
      process: this.#process,
      wanted,
      stock,
      way: Math.max(...ways),
      visit: this.#link.way,
      policies: policies.map((policy) => {
        const { quota, window } = this.#own.bucket(policy);
        const bucket = { quota, window, born: this.#levels.born(policy) };
        return { ...bucket, underWay: this.#underWay(policy), ...this.#outbox.take(policy, now) };
      }),
    });
    this.#busy = false;
    // What was granted from a bucket that is no more is not used.
    if (reply !== undefined) this.#pool.drop(this.#levels.hear(policies, reply, this.#now()));
    return reply;
  }

  /** Tokens of a policy in this process's hands, and requests on their way. */
  #underWay(policy: string): number {
    return this.#own.bucket(policy).inFlight + this.#pool.tokens(policy);
  }
}
