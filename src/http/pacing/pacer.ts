import type { PartnerClock } from "../../util/clock.ts";
import type { CancelScope } from "../call/cancel-scope.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Priority } from "../endpoint/request-options.ts";
import { Buckets, specified } from "./bucket/buckets.ts";
import type { Grant, TokenSource } from "./bucket/token-source.ts";
import type { Wait } from "./distance.ts";
import { type Fate, GatewayLimit } from "./gateway-limit.ts";
import { parseRateLimit, type RateLimitReport } from "./headers.ts";
import { SentBack, sizeOf, type WaitQueue, WaitQueues } from "./queue/wait-queue.ts";
import { WakeUp } from "./queue/wake-up.ts";
import { type RateLimit, type RateLimits, toRateLimits } from "./rate-limits.ts";
import { Routes } from "./routes.ts";

/** Named everywhere by some services, they bind those routes alone that the specification says. */
const otherRoutes: ReadonlySet<string> = new Set(specified.keys());

const furthest = (waits: readonly Wait[]): Wait => waits.reduce((far, next) => (next.ms > far.ms ? next : far));

/** A gateway refuses with 503, or with a 429 that lacks the headers of the service's own. */
function fateOf(status: number, report: RateLimitReport): Fate {
  if (status === 503 || (status === 429 && report.size === 0)) return "refused";
  return status < 500 ? "served" : "lost";
}

/** Grants requests their tokens, first come, first served within a priority, and learns from every answer. */
export class Pacer {
  readonly #clock: PartnerClock;
  readonly #tokens: TokenSource;
  readonly #queues = new WaitQueues();
  readonly #routes = new Routes();
  readonly #gatewayLimit = new GatewayLimit();
  readonly #wakeUp: WakeUp;

  /** @param open Opens another source of tokens than this process's own pictures; it calls `wake` when tokens have come. */
  constructor(clock: PartnerClock, open: (own: Buckets, wake: () => void) => TokenSource = (own) => own) {
    this.#clock = clock;
    const pump = () => this.#pump();
    this.#tokens = open(new Buckets(clock), pump);
    this.#wakeUp = new WakeUp(clock, pump);
  }

  /** Takes the tokens for a request at once when they are there and nobody is waiting for them. */
  tryAcquire(endpoint: Endpoint): Grant | undefined {
    const policies = this.#routes.of(endpoint);
    if (this.#queues.occupied) {
      // Whoever waits and could go by now goes before.
      this.#pump();
      if (sizeOf(this.#queues.of(policies)) > 0) return undefined;
    }
    const free = this.#gatewayLimit.wait(this.#clock.now()) <= 0 && this.#tokens.wait(policies, 1) <= 0;
    return free ? this.#take(policies) : undefined;
  }

  #take(policies: readonly string[]): Grant {
    this.#gatewayLimit.take(this.#clock.now());
    return this.#tokens.take(policies);
  }

  #end({ tickets }: Grant, fate: Fate, certain = false): void {
    const [sent] = tickets.values();
    const now = this.#clock.now();
    this.#gatewayLimit.end(sent?.sentAt ?? now, fate, now, certain);
  }

  /** Milliseconds between two requests, by what a gateway in front of the service lets through; 0 while it is not known to refuse. */
  get slowedTo(): number {
    return this.#gatewayLimit.interval;
  }

  /** Counts a request without waiting, for a client that does not pace itself. */
  takeAnyway(endpoint: Endpoint): Grant {
    return this.#take(this.#routes.of(endpoint));
  }

  /**
   * Waits in line for the tokens of a request. Leaving the line costs no token.
   *
   * @throws {@link SentBack} when the next token is further away than `patience` milliseconds.
   * @param again The request had its turn and was refused: it goes before all others of its priority.
   */
  acquire(
    endpoint: Endpoint,
    priority: Priority,
    scope: CancelScope,
    again = false,
    patience = Number.POSITIVE_INFINITY,
  ): Promise<Grant> {
    const line = this.#queues.of(this.#routes.of(endpoint));
    return scope.hold<Grant>(({ resolve, reject }) => {
      const go = () => resolve(this.#take(this.#routes.of(endpoint)));
      const turn = { go, back: () => reject(new SentBack()) };
      const waiter = this.#queues.join(line, endpoint.call, turn, { priority, again, patience });
      // Whoever stands in line already has arranged for the next turn.
      if (sizeOf(line) === 1) this.#pump();
      return () => {
        this.#queues.leave(waiter);
        if (sizeOf(waiter.line) === 0) this.#pump();
      };
    });
  }

  /** What a request of this endpoint would wait for behind all that wait already, and how long; for telling a pause. */
  waitOf(endpoint: Endpoint): Wait {
    const waits = this.#routes.of(endpoint).map((policy) => {
      const ms = this.#tokens.until(policy, this.#waitingFor(policy) + 1);
      return { policy, ms };
    });
    return furthest(waits);
  }

  /** The policy of an endpoint whose next token is furthest away, where that is further than `patience` milliseconds. */
  tooFar(endpoint: Endpoint, patience: number): Wait | undefined {
    const far = furthest(this.#routes.of(endpoint).map((policy) => ({ policy, ms: this.#tokens.away(policy) })));
    if (far.ms <= patience) return undefined;
    this.#tokens.doubt(far.policy, patience);
    return far;
  }

  /**
   * Learns from an answer's headers, and from a status that refuses it.
   *
   * @param patience Milliseconds that the request's call waits for a token at the most.
   */
  observe(
    endpoint: Endpoint,
    grant: Grant,
    headers: Pick<Headers, "get">,
    {
      status = 200,
      patience = Number.POSITIVE_INFINITY,
    }: { readonly status?: number; readonly patience?: number } = {},
  ): RateLimitReport {
    const report = parseRateLimit(headers);
    this.#end(grant, fateOf(status, report), headers.get("retry-after") !== null);
    const named = this.#tokens.observe(grant, report);
    if (named !== undefined) {
      this.#reroute(endpoint, () => {
        for (const policy of this.#routes.hear(endpoint, named, otherRoutes)) this.#tokens.meet(policy, report);
      });
    }
    for (const [policy, { sentAt }] of grant.tickets) {
      this.#tokens.doubt(policy, patience);
      if (endpoint.policies.includes(policy as never)) continue;
      const remaining = this.#tokens.reportOf(policy, report)?.remaining;
      const { quota, window } = this.#tokens.level(policy);
      const sighting = { remaining, interval: window / quota, sentAt, now: this.#clock.now() };
      this.#reroute(endpoint, () => this.#routes.watch(endpoint, policy, sighting));
    }
    this.#pump();
    return report;
  }

  /** The request ended without an answer. */
  forget(grant: Grant): void {
    this.#end(grant, "lost");
    this.#tokens.forget(grant);
    this.#pump();
  }

  /**
   * A request was refused: holds the policies that the answer says are empty. Where it says of none, and the refusal is one for want of
   * tokens for `sure`, those of the request of which it says nothing, or else all of them.
   *
   * @param said What the answer asks for, where that is longer than anybody would wait: those who wait are told.
   */
  hold(endpoint: Endpoint, report: RateLimitReport, ms: number, sure = true, said = ms): readonly string[] {
    const told = (policy: string) => this.#tokens.reportOf(policy, report);
    const empty = [...this.#tokens.names()].filter((policy) => told(policy)?.empty);
    this.#reroute(endpoint, () => {
      for (const policy of empty) if (this.#routes.refused(endpoint, policy)) this.#tokens.meet(policy, report);
    });
    const policies = this.#routes.of(endpoint);
    const unsaid = policies.filter((policy) => told(policy)?.remaining === undefined);
    const likely = unsaid.length > 0 ? unsaid : policies;
    const held = empty.length > 0 || !sure ? empty : likely;
    this.#tokens.hold(held, ms, said);
    this.#pump();
    return held;
  }

  snapshot(): RateLimits {
    const limits = [...this.#tokens.names()].map((policy): [string, RateLimit] => [
      policy,
      { ...this.#tokens.level(policy), waiting: this.#waitingFor(policy) },
    ]);
    return toRateLimits(limits, (calls, policy) => {
      const all = this.#waitingFor(policy) + calls;
      return Math.max(this.#tokens.until(policy, all), all * this.#gatewayLimit.interval);
    });
  }

  #waitingFor(policy: string): number {
    let waiting = 0;
    for (const line of this.#queues) if (line.policies.includes(policy)) waiting += sizeOf(line);
    return waiting;
  }

  /** Serves the lines as far as the tokens go, then arranges to be called when the next one is due. */
  #pump(): void {
    for (;;) {
      const closed = this.#queues.occupied ? this.#gatewayLimit.wait(this.#clock.now()) : 0;
      if (closed > 0) {
        this.#wakeUp.in(closed, 0);
        return;
      }
      let next = Number.POSITIVE_INFINITY;
      let beat = 0;
      const ready: WaitQueue[] = [];
      for (const line of this.#queues) {
        const wanted = sizeOf(line);
        if (wanted === 0) continue;
        const wait = this.#tokens.wait(line.policies, wanted);
        if (wait <= 0) {
          ready.push(line);
          continue;
        }
        this.#queues.sendBack(line, Math.max(...line.policies.map((policy) => this.#tokens.away(policy))));
        // A queue that is empty now needs no timer.
        if (sizeOf(line) === 0) continue;
        if (wait < next) {
          next = wait;
          beat = this.#tokens.beat(line.policies);
        }
      }
      const waiter = this.#queues.takeTurn(ready);
      if (waiter === undefined) {
        this.#wakeUp.in(next, beat);
        return;
      }
      waiter.turn.go();
    }
  }

  /** An endpoint's calls that wait stand where its calls stand from now on: what they draw from may have been learned meanwhile. */
  #reroute(endpoint: Endpoint, learn: () => void): void {
    const before = this.#routes.of(endpoint);
    learn();
    const after = this.#routes.of(endpoint);
    if (before !== after) this.#queues.move(endpoint.call, this.#queues.of(before), this.#queues.of(after));
  }
}
