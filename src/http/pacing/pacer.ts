import type { Clock } from "../../util/clock.ts";
import type { Endpoint, Policy } from "../endpoint.ts";
import type { Lifeline } from "../lifeline.ts";
import type { Priority } from "../request-options.ts";
import { Bucket } from "./bucket.ts";
import { parseRateLimit, type RateLimitReport } from "./headers.ts";
import { createLine, type Line, sizeOf, takeTurn, type Waiter } from "./line.ts";
import { type RateLimit, type RateLimits, withEstimate } from "./rate-limits.ts";
import type { Ticket } from "./ticket.ts";
import { WakeUp } from "./wake-up.ts";

/** What one request holds: a token of each bucket that it draws from. */
export type Grant = ReadonlyMap<string, Ticket>;

/** Holds until an answer says otherwise (specification 8). Windows in milliseconds. */
const specified: Readonly<Record<Policy, { quota: number; window: number }>> = {
  default: { quota: 3000, window: 60_000 },
  uploads: { quota: 5000, window: 86_400_000 },
  downloads: { quota: 100_000, window: 86_400_000 },
};

/** Grants requests their tokens, first come, first served within a priority, and learns from every answer. */
export class Pacer {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();
  readonly #lines = new Map<string, Line>();
  /** Policies that answers have taught, beyond those of the descriptor. */
  readonly #learned = new Map<string, Set<string>>();
  readonly #wakeUp: WakeUp;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wakeUp = new WakeUp(clock, () => this.#pump());
  }

  /** The policies that an endpoint draws from: by its descriptor, and by what its answers have named. */
  #policiesOf(endpoint: Endpoint): readonly string[] {
    const learned = this.#learned.get(endpoint.call);
    return learned === undefined ? endpoint.policies : [...endpoint.policies, ...learned];
  }

  /** Takes the tokens for a request at once when they are there and nobody is waiting for them. */
  tryAcquire(endpoint: Endpoint): Grant | undefined {
    const policies = this.#policiesOf(endpoint);
    if (this.#lines.size > 0) {
      const line = this.#lines.get(policies.join());
      if (line !== undefined && sizeOf(line) > 0) return undefined;
    }
    return this.#grant(policies);
  }

  /** Counts a request without waiting, for a client that does not pace itself. */
  takeAnyway(endpoint: Endpoint): Grant {
    return this.#take(this.#policiesOf(endpoint), this.#clock.now());
  }

  /**
   * Waits in line for the tokens of a request. Leaving the line costs no token.
   *
   * @param again The request had its turn and was refused: it goes before all others of its priority.
   */
  acquire(endpoint: Endpoint, priority: Priority, lifeline: Lifeline, again = false): Promise<Grant> {
    const line = this.#line(this.#policiesOf(endpoint));
    return lifeline.hold<Grant>(({ resolve }) => {
      const waiter: Waiter = {
        left: false,
        go: () => {
          const grant = this.#grant(line.policies);
          if (grant !== undefined) resolve(grant);
        },
      };
      const queue = line.queues[priority];
      if (again) queue.unshift(waiter);
      else queue.push(waiter);
      // Whoever stands in line already has arranged for the next turn.
      if (sizeOf(line) === 1) this.#pump();
      return () => {
        queue.leave(waiter);
        if (sizeOf(line) === 0) this.#pump();
      };
    });
  }

  /** The longest that a request of this endpoint would wait if it were next; for telling a pause. */
  waitOf(endpoint: Endpoint): { readonly policy: string; readonly ms: number } {
    const now = this.#clock.now();
    return this.#policiesOf(endpoint)
      .map((policy) => ({ policy, ms: this.#bucket(policy).wait(now) }))
      .reduce((longest, next) => (next.ms > longest.ms ? next : longest));
  }

  /** Learns from an answer's headers. */
  observe(endpoint: Endpoint, grant: Grant, headers: Headers): RateLimitReport {
    const now = this.#clock.now();
    const report = parseRateLimit(headers);
    for (const [policy, ticket] of grant) {
      const bucket = this.#bucket(policy);
      bucket.observe(ticket, report.get(policy), now);
      if (report.size > 0 && !report.has(policy)) bucket.vanish();
    }
    for (const [policy, learned] of report) {
      if (policy in specified || grant.has(policy)) continue;
      this.#learn(endpoint, policy);
      // The request drew from it without a ticket: its answer tells the level all the same.
      const bucket = this.#bucket(policy);
      bucket.observe(bucket.take(now), learned, now);
    }
    this.#pump();
    return report;
  }

  /** The request ended without an answer. */
  forget(grant: Grant): void {
    const now = this.#clock.now();
    for (const [policy, ticket] of grant) this.#bucket(policy).forget(ticket, now);
    this.#pump();
  }

  /** An answer said that a bucket is empty: holds the policies that it names as empty, or all of the request's when it names none. */
  hold(endpoint: Endpoint, report: RateLimitReport, ms: number): readonly string[] {
    const policies = this.#policiesOf(endpoint);
    const empty = policies.filter((policy) => report.get(policy)?.remaining === 0);
    const held = empty.length > 0 ? empty : policies;
    const now = this.#clock.now();
    for (const policy of held) this.#bucket(policy).hold(now + ms, now);
    return held;
  }

  snapshot(): RateLimits {
    const now = this.#clock.now();
    const limits: Record<string, RateLimit> = {};
    for (const policy of new Set([...Object.keys(specified), ...this.#buckets.keys()])) {
      const bucket = this.#bucket(policy);
      const waiting = this.#waitingFor(policy);
      const remaining = bucket.remaining(now);
      const nextTokenIn = remaining > 0 ? 0 : bucket.wait(now);
      limits[policy] = { quota: bucket.quota, window: bucket.window, remaining, nextTokenIn, waiting };
    }
    return withEstimate(limits, (calls, policy) =>
      this.#bucket(policy).until(this.#waitingFor(policy) + calls, this.#clock.now()),
    );
  }

  #waitingFor(policy: string): number {
    let waiting = 0;
    for (const line of this.#lines.values()) if (line.policies.includes(policy)) waiting += sizeOf(line);
    return waiting;
  }

  #grant(policies: readonly string[]): Grant | undefined {
    const now = this.#clock.now();
    for (const policy of policies) if (this.#bucket(policy).wait(now) > 0) return undefined;
    return this.#take(policies, now);
  }

  #take(policies: readonly string[], now: number): Grant {
    const grant = new Map<string, Ticket>();
    for (const policy of policies) grant.set(policy, this.#bucket(policy).take(now));
    return grant;
  }

  /** Serves every line as far as the buckets go, then arranges to be called when the next token is due. */
  #pump(): void {
    let next = Number.POSITIVE_INFINITY;
    let interval = 0;
    for (const line of this.#lines.values()) {
      while (sizeOf(line) > 0) {
        const now = this.#clock.now();
        let blocked = 0;
        for (const policy of line.policies) {
          const bucket = this.#bucket(policy);
          const wait = bucket.wait(now);
          if (wait > blocked) {
            blocked = wait;
            if (wait < next) interval = bucket.interval;
          }
        }
        if (blocked > 0) {
          next = Math.min(next, blocked);
          break;
        }
        takeTurn(line)?.go();
      }
    }
    this.#wakeUp.in(next, interval);
  }

  /** An answer named a policy that the specification does not know: the endpoint draws from it too. */
  #learn(endpoint: Endpoint, policy: string): void {
    const learned = this.#learned.get(endpoint.call) ?? new Set<string>();
    this.#learned.set(endpoint.call, learned.add(policy));
  }

  #bucket(policy: string): Bucket {
    let bucket = this.#buckets.get(policy);
    if (bucket === undefined) {
      const { quota, window } = specified[policy as Policy] ?? specified.default;
      bucket = new Bucket(quota, window, this.#clock.now());
      this.#buckets.set(policy, bucket);
    }
    return bucket;
  }

  #line(policies: readonly string[]): Line {
    const key = policies.join();
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = createLine(policies);
      this.#lines.set(key, line);
    }
    return line;
  }
}
