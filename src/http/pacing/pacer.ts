import type { PartnerClock } from "../../util/clock.ts";
import type { CancelScope } from "../cancel-scope.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Priority } from "../request-options.ts";
import { Buckets, specified } from "./bucket/buckets.ts";
import type { Grant, TokenSource } from "./bucket/token-source.ts";
import { Ceiling, type CeilingLimit } from "./ceiling.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Forecast } from "./forecast.ts";
import { type Fate, fateOf, GatewayLimit, type Passage } from "./gateway-limit.ts";
import { parseRateLimit, type RateLimitReport, type Rename } from "./headers.ts";
import { sizeOf, TokenTooFar, WaitQueues } from "./queue/wait-queue.ts";
import { Routes } from "./routes.ts";
import type { Wait } from "./wait.ts";

export interface PacerOptions {
  /** Opens a source of tokens other than this process's own buckets. The source calls `wake` when tokens have come. */
  readonly open?: ((own: Buckets, wake: () => void) => TokenSource) | undefined;
  /** The partner's own ceiling. */
  readonly ceiling?: CeilingLimit | undefined;
}

/** How a call waits. Each field is optional. */
export interface Acquiring {
  /** The request had its turn and was refused: it comes before all others of its priority. */
  readonly again?: boolean;
  /** Milliseconds that the next token may be away. */
  readonly patience?: number;
  /** Called once when the call waits for longer than a moment, with the reason. */
  readonly report?: ((wait: Wait) => void) | undefined;
}

/** What a request is sent with: its tokens, and its place among the requests that a gateway may refuse. */
export interface Permit {
  readonly grant: Grant;
  readonly passage: Passage;
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
    this.forecast = new Forecast(limits, (queue) => this.#dispatcher.waitOf(queue));
  }

  /** Takes the tokens for a request if they are available and no call waits for them. */
  tryAcquire(endpoint: Endpoint): Permit | undefined {
    // Each slot of a ceiling goes to the head of the queue.
    if (this.#ceiling !== undefined) return undefined;
    const policies = this.#routes.of(endpoint);
    if (this.#queues.occupied) {
      // Calls that wait and have tokens by now come first.
      this.#dispatcher.run();
      if (sizeOf(this.#queues.of(policies)) > 0) return undefined;
    }
    const wait = this.#gatewayLimit.wait(this.#clock.now()) ?? this.#tokens.wait(policies, 1);
    return wait === undefined ? this.#take(policies) : undefined;
  }

  #take(policies: readonly string[]): Permit {
    return { passage: this.#gatewayLimit.take(this.#clock.now()), grant: this.#tokens.take(policies) };
  }

  #end({ passage }: Permit, fate: Fate): void {
    this.#gatewayLimit.end(passage, fate, this.#clock.now());
  }

  /** Whether requests are sent at the rate that a gateway in front of the service allows. */
  get slowed(): boolean {
    return this.#gatewayLimit.interval > 0;
  }

  /** Counts a request without waiting, for a client that does not pace itself. */
  takeAnyway(endpoint: Endpoint): Permit {
    return this.#take(this.#routes.of(endpoint));
  }

  /**
   * Waits in the queue for the tokens of a request, then for a slot of the ceiling. Leaving the queue costs no token.
   *
   * @throws {@link TokenTooFar} when the next token is further away than `patience` milliseconds.
   */
  async acquire(
    endpoint: Endpoint,
    priority: Priority,
    scope: CancelScope,
    { again = false, patience = Number.POSITIVE_INFINITY, report = () => undefined }: Acquiring = {},
  ): Promise<Permit> {
    const joining = { priority, again, patience, report, since: this.#clock.now() };
    let over: (() => void) | undefined;
    try {
      const permit = await scope.hold<Permit>(({ resolve, reject }) => {
        const grant = () => {
          this.#ceiling?.occupy();
          resolve(this.#take(this.#routes.of(endpoint)));
        };
        const turn = { grant, reject: () => reject(new TokenTooFar()) };
        const waiter = this.#queues.join(this.#queues.of(this.#routes.of(endpoint)), endpoint.call, turn, joining);
        over = this.#dispatcher.watch(waiter);
        return () => {
          over?.();
          this.#queues.leave(waiter);
          if (sizeOf(waiter.queue) === 0) this.#dispatcher.run();
        };
      });
      if (this.#ceiling !== undefined) await this.#pass(this.#ceiling, permit, scope);
      return permit;
    } finally {
      over?.();
    }
  }

  /** Waits for a slot of the ceiling, with the tokens of the request. */
  async #pass(ceiling: Ceiling, permit: Permit, scope: CancelScope): Promise<void> {
    try {
      await ceiling.pass(scope, this.forecast.waiting);
    } catch (error) {
      this.forget(permit);
      throw error;
    }
    this.#dispatcher.run();
  }

  /**
   * Learns from a response's headers and status.
   * @param options.patience The maximum time in milliseconds that the request's call waits for a token.
   * @param options.redact Removes the secret key from the name of a policy.
   */
  observe(
    endpoint: Endpoint,
    permit: Permit,
    headers: Pick<Headers, "get">,
    options: { readonly status?: number; readonly patience?: number; readonly redact?: Rename } = {},
  ): RateLimitReport {
    const { status = 200, patience = Number.POSITIVE_INFINITY, redact } = options;
    const report = parseRateLimit(headers, redact);
    this.#end(permit, fateOf(status, report));
    const { grant } = permit;
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
  forget(permit: Permit): void {
    this.#end(permit, "lost");
    this.#tokens.forget(permit.grant);
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
