import type { Clock } from "../../util/clock.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Lifeline } from "../lifeline.ts";
import type { Priority } from "../request-options.ts";
import { Buckets } from "./buckets.ts";
import { parseRateLimit, type RateLimitReport } from "./headers.ts";
import { type Line, Lines, sizeOf } from "./line.ts";
import { type RateLimit, type RateLimits, withEstimate } from "./rate-limits.ts";
import type { Grant, TokenSource } from "./tokens.ts";
import { WakeUp } from "./wake-up.ts";

/** Grants requests their tokens, first come, first served within a priority, and learns from every answer. */
export class Pacer {
  readonly #tokens: TokenSource;
  readonly #lines = new Lines();
  /** Policies that answers have taught, beyond those of the descriptor. */
  readonly #learned = new Map<string, Set<string>>();
  readonly #wakeUp: WakeUp;

  /** @param open Opens another source of tokens than this process's own pictures; it calls `wake` when tokens have come. */
  constructor(clock: Clock, open: (own: Buckets, wake: () => void) => TokenSource = (own) => own) {
    const pump = () => this.#pump();
    this.#tokens = open(new Buckets(clock), pump);
    this.#wakeUp = new WakeUp(clock, pump);
  }

  /** The policies that an endpoint draws from: by its descriptor, and by what its answers have named. */
  #policiesOf(endpoint: Endpoint): readonly string[] {
    const learned = this.#learned.get(endpoint.call);
    return learned === undefined ? endpoint.policies : [...endpoint.policies, ...learned];
  }

  /** Takes the tokens for a request at once when they are there and nobody is waiting for them. */
  tryAcquire(endpoint: Endpoint): Grant | undefined {
    const policies = this.#policiesOf(endpoint);
    if (this.#lines.occupied) {
      // Whoever waits and could go by now goes before.
      this.#pump();
      if (sizeOf(this.#lines.of(policies)) > 0) return undefined;
    }
    return this.#tokens.wait(policies, 1) > 0 ? undefined : this.#tokens.take(policies);
  }

  /** Counts a request without waiting, for a client that does not pace itself. */
  takeAnyway(endpoint: Endpoint): Grant {
    return this.#tokens.take(this.#policiesOf(endpoint));
  }

  /**
   * Waits in line for the tokens of a request. Leaving the line costs no token.
   *
   * @param again The request had its turn and was refused: it goes before all others of its priority.
   */
  acquire(endpoint: Endpoint, priority: Priority, lifeline: Lifeline, again = false): Promise<Grant> {
    const line = this.#lines.of(this.#policiesOf(endpoint));
    return lifeline.hold<Grant>(({ resolve }) => {
      const go = () => resolve(this.#tokens.take(this.#policiesOf(endpoint)));
      const waiter = this.#lines.join(line, endpoint.call, priority, go, again);
      // Whoever stands in line already has arranged for the next turn.
      if (sizeOf(line) === 1) this.#pump();
      return () => {
        this.#lines.leave(waiter);
        if (sizeOf(waiter.line) === 0) this.#pump();
      };
    });
  }

  /** The longest that a request of this endpoint would wait if it were next; for telling a pause. */
  waitOf(endpoint: Endpoint): { readonly policy: string; readonly ms: number } {
    return this.#policiesOf(endpoint)
      .map((policy) => ({ policy, ms: this.#tokens.wait([policy], 0) }))
      .reduce((longest, next) => (next.ms > longest.ms ? next : longest));
  }

  /** Learns from an answer's headers. */
  observe(endpoint: Endpoint, grant: Grant, headers: Pick<Headers, "get">): RateLimitReport {
    const report = parseRateLimit(headers);
    for (const policy of this.#tokens.observe(grant, report)) this.#learn(endpoint, policy);
    this.#pump();
    return report;
  }

  /** The request ended without an answer. */
  forget(grant: Grant): void {
    this.#tokens.forget(grant);
    this.#pump();
  }

  /** An answer said that a bucket is empty: holds the policies that it names as empty, or all of the request's when it names none. */
  hold(endpoint: Endpoint, report: RateLimitReport, ms: number): readonly string[] {
    const policies = this.#policiesOf(endpoint);
    const empty = policies.filter((policy) => this.#tokens.reportOf(policy, report)?.remaining === 0);
    const held = empty.length > 0 ? empty : policies;
    this.#tokens.hold(held, ms);
    return held;
  }

  snapshot(): RateLimits {
    const limits: Record<string, RateLimit> = {};
    for (const policy of this.#tokens.names()) {
      limits[policy] = { ...this.#tokens.level(policy), waiting: this.#waitingFor(policy) };
    }
    return withEstimate(limits, (calls, policy) => this.#tokens.until(policy, this.#waitingFor(policy) + calls));
  }

  #waitingFor(policy: string): number {
    let waiting = 0;
    for (const line of this.#lines) if (line.policies.includes(policy)) waiting += sizeOf(line);
    return waiting;
  }

  /** Serves the lines as far as the tokens go, then arranges to be called when the next one is due. */
  #pump(): void {
    for (;;) {
      let next = Number.POSITIVE_INFINITY;
      let beat = 0;
      const ready: Line[] = [];
      for (const line of this.#lines) {
        const wanted = sizeOf(line);
        if (wanted === 0) continue;
        const wait = this.#tokens.wait(line.policies, wanted);
        if (wait <= 0) ready.push(line);
        else if (wait < next) {
          next = wait;
          beat = this.#tokens.beat(line.policies);
        }
      }
      const waiter = this.#lines.takeTurn(ready);
      if (waiter === undefined) {
        this.#wakeUp.in(next, beat);
        return;
      }
      waiter.go();
    }
  }

  /** An answer named a policy that the specification does not know: the endpoint draws from it too, and so do its calls that wait. */
  #learn(endpoint: Endpoint, policy: string): void {
    const before = this.#lines.of(this.#policiesOf(endpoint));
    const learned = this.#learned.get(endpoint.call) ?? new Set<string>();
    this.#learned.set(endpoint.call, learned.add(policy));
    const after = this.#lines.of(this.#policiesOf(endpoint));
    if (before !== after) this.#lines.move(endpoint.call, before, after);
  }
}
