import type { PartnerClock } from "../../util/clock.ts";
import type { CancelScope } from "../cancel-scope.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Priority } from "../endpoint/request-options.ts";
import { Buckets, specified } from "./bucket/buckets.ts";
import type { Grant, TokenSource } from "./bucket/token-source.ts";
import { Ceiling, type CeilingLimit } from "./ceiling.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Forecast } from "./forecast.ts";
import { type Fate, fateOf, GatewayLimit } from "./gateway-limit.ts";
import { parseRateLimit, type RateLimitReport, type Rename } from "./headers.ts";
import { type Joining, sizeOf, TokenTooFar, WaitQueues } from "./queue/wait-queue.ts";
import { Routes } from "./routes.ts";

export interface PacerOptions {
  /** Opens a source of tokens other than this process's own buckets. The source calls `wake` when tokens have come. */
  readonly open?: ((own: Buckets, wake: () => void) => TokenSource) | undefined;
  /** The partner's own ceiling. */
  readonly ceiling?: CeilingLimit | undefined;
}

/** Grants tokens to requests, first come, first served within a priority, and learns from every response. */
export class Pacer {
  readonly #clock: PartnerClock;
  readonly #tokens: TokenSource;
  readonly #queues = new WaitQueues();
  readonly #routes = new Routes();
  readonly #gatewayLimit = new GatewayLimit();
  readonly #ceiling: Ceiling | undefined;
  readonly #dispatcher: Dispatcher;
  readonly forecast: Forecast;

  constructor(clock: PartnerClock, { open = (own) => own, ceiling }: PacerOptions = {}) {
    this.#clock = clock;
    const tokens = open(new Buckets(clock), () => this.#dispatcher.run());
    this.#tokens = tokens;
    this.#ceiling = ceiling && new Ceiling(ceiling, clock, tokens.reserve?.bind(tokens));
    const limits = {
      tokens,
      queues: this.#queues,
      routes: this.#routes,
      gatewayLimit: this.#gatewayLimit,
      ceiling: this.#ceiling,
    };
    this.#dispatcher = new Dispatcher(clock, limits);
    this.forecast = new Forecast(limits);
  }

  /** Takes the tokens for a request if they are available and no call waits for them. */
  tryAcquire(endpoint: Endpoint): Grant | undefined {
    // Each slot of a ceiling goes to the head of the queue.
    if (this.#ceiling !== undefined) return undefined;
    const policies = this.#routes.of(endpoint);
    if (this.#queues.occupied) {
      // Calls that wait and have tokens by now come first.
      this.#dispatcher.run();
      if (sizeOf(this.#queues.of(policies)) > 0) return undefined;
    }
    const free = this.#gatewayLimit.wait(this.#clock.now()) <= 0 && this.#tokens.wait(policies, 1) <= 0;
    return free ? this.#take(policies) : undefined;
  }

  #take(policies: readonly string[]): Grant {
    this.#gatewayLimit.take(this.#clock.now());
    return this.#tokens.take(policies);
  }

  #end({ requests }: Grant, fate: Fate, certain = false): void {
    const now = this.#clock.now();
    this.#gatewayLimit.end([...requests.values()][0]?.sentAt ?? now, fate, now, certain);
  }

  /** Milliseconds between two requests, by the limit of a gateway in front of the service; 0 while no such limit is known. */
  get slowedTo(): number {
    return this.#gatewayLimit.interval;
  }

  /** Counts a request without waiting, for a client that does not pace itself. */
  takeAnyway(endpoint: Endpoint): Grant {
    return this.#take(this.#routes.of(endpoint));
  }

  /**
   * Waits in the queue for the tokens of a request, then for a slot of the ceiling. Leaving the queue costs no token.
   *
   * @throws {@link TokenTooFar} when the next token is further away than `patience` milliseconds.
   * @param again The request had its turn and was refused: it comes before all others of its priority.
   */
  acquire(
    endpoint: Endpoint,
    priority: Priority,
    scope: CancelScope,
    again = false,
    patience = Number.POSITIVE_INFINITY,
  ): Promise<Grant> {
    const grant = this.#queueUp(endpoint, { priority, again, patience }, scope);
    return this.#ceiling === undefined ? grant : this.#pass(this.#ceiling, grant, scope);
  }

  /** Waits for a slot of the ceiling, with the tokens of the request. */
  async #pass(ceiling: Ceiling, granted: Promise<Grant>, scope: CancelScope): Promise<Grant> {
    const grant = await granted;
    try {
      await ceiling.pass(scope, this.forecast.waiting);
    } catch (error) {
      this.forget(grant);
      throw error;
    }
    this.#dispatcher.run();
    return grant;
  }

  #queueUp(endpoint: Endpoint, joining: Joining, scope: CancelScope): Promise<Grant> {
    const queue = this.#queues.of(this.#routes.of(endpoint));
    return scope.hold<Grant>(({ resolve, reject }) => {
      const grant = () => {
        this.#ceiling?.occupy();
        resolve(this.#take(this.#routes.of(endpoint)));
      };
      const turn = { grant, reject: () => reject(new TokenTooFar()) };
      const waiter = this.#queues.join(queue, endpoint.call, turn, joining);
      // An occupied queue already has a timer for its next turn.
      if (sizeOf(queue) === 1) this.#dispatcher.run();
      return () => {
        this.#queues.leave(waiter);
        if (sizeOf(waiter.queue) === 0) this.#dispatcher.run();
      };
    });
  }

  /**
   * Learns from a response's headers and status.
   * @param options.patience The maximum time in milliseconds that the request's call waits for a token.
   * @param options.redact Removes the secret key from the name of a policy.
   */
  observe(
    endpoint: Endpoint,
    grant: Grant,
    headers: Pick<Headers, "get">,
    options: { readonly status?: number; readonly patience?: number; readonly redact?: Rename } = {},
  ): RateLimitReport {
    const { status = 200, patience = Number.POSITIVE_INFINITY, redact } = options;
    const report = parseRateLimit(headers, redact);
    this.#end(grant, fateOf(status, report), headers.get("retry-after") !== null);
    const named = this.#tokens.observe(grant, report);
    if (named !== undefined) {
      this.#reroute(endpoint, () => {
        for (const policy of this.#routes.learn(endpoint, named, specified)) this.#tokens.observeNew(policy, report);
      });
    }
    for (const [policy, { sentAt }] of grant.requests) {
      this.#tokens.probeAfter(policy, patience);
      if (endpoint.policies.includes(policy as never)) continue;
      const remaining = this.#tokens.reportOf(policy, report)?.remaining;
      const { quota, window } = this.#tokens.level(policy);
      const sighting = { remaining, interval: window / quota, sentAt, now: this.#clock.now() };
      this.#reroute(endpoint, () => this.#routes.verify(endpoint, policy, sighting));
    }
    this.#dispatcher.run();
    return report;
  }

  /** Removes a request that ended without a response. */
  forget(grant: Grant): void {
    this.#end(grant, "lost");
    this.#tokens.forget(grant);
    this.#dispatcher.run();
  }

  /**
   * Holds policies after the service refused a request: those that the response reports as empty. When it reports no empty policy and
   * `sure` says that the rate limit is the reason, those of the request that it does not report, or else all of them.
   *
   * @param retryAfter Milliseconds that the response asks for. When they are longer than `ms`, calls that do not wait that long fail.
   * @returns the policies that are held.
   */
  hold(endpoint: Endpoint, report: RateLimitReport, ms: number, sure = true, retryAfter = ms): readonly string[] {
    const reported = (policy: string) => this.#tokens.reportOf(policy, report);
    const empty = [...this.#tokens.names()].filter((policy) => reported(policy)?.empty);
    this.#reroute(endpoint, () => {
      for (const policy of empty)
        if (this.#routes.addRefusal(endpoint, policy)) this.#tokens.observeNew(policy, report);
    });
    const policies = this.#routes.of(endpoint);
    const unreported = policies.filter((policy) => reported(policy)?.remaining === undefined);
    const likely = unreported.length > 0 ? unreported : policies;
    const held = empty.length > 0 || !sure ? empty : likely;
    this.#tokens.hold(held, ms, retryAfter);
    this.#dispatcher.run();
    return held;
  }

  /** Runs `learn`, then moves the waiting calls of an endpoint to another queue if its policies changed. */
  #reroute(endpoint: Endpoint, learn: () => void): void {
    const before = this.#routes.of(endpoint);
    learn();
    const after = this.#routes.of(endpoint);
    if (before !== after) this.#queues.move(endpoint.call, this.#queues.of(before), this.#queues.of(after));
  }
}
