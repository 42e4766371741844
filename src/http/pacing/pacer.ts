import type { PartnerClock } from "../../util/clock.ts";
import { alwaysWaited, type Ending } from "./bucket.ts";
import { Ceiling, type CeilingLimit } from "./ceiling.ts";
import { Forecast, type Pause, type RateLimits } from "./forecast.ts";
import { GatewayLimit, type GatewayOutcome, gatewayOutcomeOf } from "./gateway-limit.ts";
import { RateLimitReader, type RateLimitReport, type Rename } from "./headers.ts";
import {
  type Permit,
  type Priority,
  TokenTooFar,
  type Turn,
  type TurnOptions,
  type Waiter,
  type WaitQueue,
  WaitQueues,
} from "./queue.ts";
import { Buckets, type PacedRoute, Routes, type TokenSource } from "./tokens.ts";
import type { Wait } from "./wait.ts";

export interface PacerOptions {
  /** Opens a source of tokens other than this process's own buckets. The source calls `wake` when tokens have come. */
  readonly open?: ((own: Buckets, wake: () => void) => TokenSource) | undefined;
  /** The partner's own ceiling. */
  readonly ceiling?: CeilingLimit | undefined;
  /** Whether calls wait for their turn. Default true. */
  readonly paced?: boolean;
  /** Removes the secret key from the name of a policy. */
  readonly redact?: Rename | undefined;
}

/** How a call waits. Each field is optional. */
export interface Acquiring extends Partial<TurnOptions> {
  /** Called once when the call waits for longer than a moment, with the reason and the expected time. */
  readonly report?: ((wait: Wait) => void) | undefined;
}

interface RefuseOptions {
  /** Milliseconds until the next request. */
  readonly ms: number;
  /** Whether the rate limit is certainly the reason. Default true. */
  readonly sure?: boolean;
}

/** The part of a call's lifetime that a wait needs: the end of the call ends the wait. */
interface Cancelable {
  /** Waits for the work that `begin` starts. `begin` returns a function that stops it. */
  hold<T>(begin: (settle: Settle<T>) => (reason: unknown) => void): Promise<T>;
}

interface Settle<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Grants tokens to requests, first come, first served within a priority, and learns from every response. */
export class Pacer {
  /** Whether calls wait for their turn. */
  readonly paced: boolean;
  readonly #clock: PartnerClock;
  /** This process's own buckets, which learn from each response. */
  readonly #buckets: Buckets;
  readonly #tokens: TokenSource;
  readonly #queues = new WaitQueues();
  readonly #routes = new Routes();
  readonly #gatewayLimit = new GatewayLimit();
  readonly #headers: RateLimitReader;
  readonly #ceiling: Ceiling | undefined;
  readonly #forecast: Forecast;
  #stopTimer: (() => void) | undefined;
  /** The pauses by 429s whose bodies are still arriving. */
  readonly #unread = new Set<Pause>();
  /** The requests that keep their tokens. */
  #kept = 0;

  constructor(clock: PartnerClock, { open = (own) => own, ceiling: limit, paced = true, redact }: PacerOptions = {}) {
    const buckets = new Buckets(clock);
    const tokens = open(buckets, () => this.#serve());
    const ceiling = limit && new Ceiling(limit, clock, tokens.reserve?.bind(tokens), () => this.#serve());
    this.#clock = clock;
    this.paced = paced;
    this.#buckets = buckets;
    this.#tokens = tokens;
    this.#headers = new RateLimitReader(redact);
    this.#ceiling = ceiling;
    const [queues, gatewayLimit] = [this.#queues, this.#gatewayLimit];
    const unread = this.#unread;
    this.#forecast = new Forecast({ clock, paced, buckets, tokens, queues, gatewayLimit, ceiling, unread });
  }

  /** The rate limits as this process knows them now. */
  rateLimits(): RateLimits {
    return this.#forecast.rateLimits();
  }

  /** Whether requests are sent at the rate that a gateway in front of the service allows. */
  get slowed(): boolean {
    return this.#gatewayLimit.interval > 0;
  }

  /** Takes the tokens for a request if they are available and no call waits for them. */
  tryAcquire(route: PacedRoute): Permit | undefined {
    // Each slot of a ceiling goes to the first call of the queue.
    if (this.#ceiling !== undefined) return undefined;
    const policies = this.#routes.of(route);
    if (this.#queues.occupied) {
      // Calls that wait and have tokens by now come first.
      this.#serve();
      if (this.#queues.of(policies).size > 0) return undefined;
    }
    const now = this.#clock.now();
    return this.#forecast.wait(policies, 1, now) === undefined ? this.#take(policies, now) : undefined;
  }

  /** Counts a request without waiting, for a client that does not pace itself. */
  takeAnyway(route: PacedRoute): Permit {
    return this.#take(this.#routes.of(route));
  }

  #take(policies: readonly string[], now = this.#clock.now()): Permit {
    return { gatewayRequest: this.#gatewayLimit.take(now), tokens: this.#tokens.take(policies, now) };
  }

  /**
   * Lets a request keep its tokens while another one gets its own, so that both are sent together. Returns a function that ends it; undefined
   * where the other one might wait for these tokens: in a bucket of one token, and for a probe.
   */
  keepTokens(route: PacedRoute): (() => void) | undefined {
    const policies = this.#routes.of(route);
    const room = Math.min(this.#ceiling?.burst ?? Infinity, ...policies.map((each) => this.#tokens.level(each).quota));
    if (this.#kept + 2 > room || this.#forecast.wait(policies, 1)?.reason === "probe") return undefined;
    this.#kept += 1;
    return () => {
      this.#kept -= 1;
    };
  }

  /**
   * Milliseconds that the limits can put between two requests of a route, when the second one comes before all others. With `ofSingles`, only
   * by limits that let one request pass at a time; 0 without such a limit.
   */
  spacing(route: PacedRoute, ofSingles = false): number {
    if (!this.paced) return 0;
    const { burst, window } = this.#ceiling ?? { burst: Infinity, window: 0 };
    const levels = this.#routes.of(route).map((policy) => this.#tokens.level(policy));
    const waits = levels.map(({ quota, window }) => (ofSingles && quota >= 2 ? 0 : window / quota));
    return Math.max(ofSingles && burst >= 2 ? 0 : window, ...waits);
  }

  /**
   * Waits in the queue for the tokens of a request, then for a slot of the ceiling. Leaving the queue costs no token.
   *
   * @throws {@link TokenTooFar} when the next token is further away than `maxRetryAfter` milliseconds.
   */
  async acquire(route: PacedRoute, priority: Priority, scope: Cancelable, acquiring: Acquiring = {}): Promise<Permit> {
    const {
      retried = false,
      urgent = false,
      maxRetryAfter = Number.POSITIVE_INFINITY,
      report = () => undefined,
    } = acquiring;
    const policies = this.#routes.of(route);
    const far = this.#tooFar(policies, maxRetryAfter);
    if (far !== undefined) {
      // From time to time one request is sent without the token, because the headers may be wrong.
      const closed = this.#queues.turn !== undefined || this.#ceiling?.wait(1) !== undefined;
      if (!this.#tokens.mayCheck(far.policy, maxRetryAfter) || closed) throw far;
      return { ...this.#take(policies), slot: this.#ceiling?.take(), isCheck: true };
    }
    let stopReport: () => void = () => undefined;
    try {
      return await scope.hold<Permit>(({ resolve, reject }) => {
        const isTurnOpen = urgent && this.#yieldTurn();
        const waiter = this.#queues.join(this.#queues.of(policies), {
          call: route.call,
          priority,
          retried,
          urgent,
          maxRetryAfter,
          grant: resolve,
          reject,
        });
        // An occupied queue already has a timer for its next turn.
        if (waiter.queue.size === 1 || isTurnOpen) this.#serve();
        stopReport = this.#forecast.report(waiter, report);
        return () => {
          stopReport();
          this.#leave(waiter);
        };
      });
    } finally {
      stopReport();
    }
  }

  /** The token that is furthest away, if that is further away than the call waits. */
  #tooFar(policies: readonly string[], maxRetryAfter: number): TokenTooFar | undefined {
    let far: TokenTooFar | undefined;
    for (const policy of policies) {
      const ms = this.#tokens.distance(policy);
      if (ms > Math.max(maxRetryAfter, alwaysWaited, far?.ms ?? 0)) far = new TokenTooFar(policy, ms);
    }
    return far;
  }

  /** Takes the turn from a call that waits for its slot, for one that comes before it. Returns whether there was one. */
  #yieldTurn(): boolean {
    const { turn } = this.#queues;
    if (turn === undefined || turn.waiter.urgent) return false;
    this.#takeBack(turn);
    return true;
  }

  /** Puts the call whose turn it is back into its queue. */
  #takeBack({ waiter, permit }: Turn): void {
    this.#queues.turn = undefined;
    waiter.queue.lists[waiter.priority].putBack(waiter);
    this.#drop(permit, "lost", "unsent");
  }

  #leave(waiter: Waiter): void {
    if (this.#queues.turn?.waiter === waiter) {
      const { permit } = this.#queues.turn;
      this.#queues.turn = undefined;
      this.forget(permit, true);
      return;
    }
    this.#queues.leave(waiter);
    if (waiter.queue.size === 0) this.#serve();
  }

  /** Serves the queues as far as the limits allow, then sets a timer for the next turn. */
  #serve(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const { turn, occupied } = this.#queues;
    if (turn === undefined && !occupied) return;
    if (turn !== undefined && this.#isHeld(turn.waiter.queue.policies)) this.#takeBack(turn);
    const next = this.#serveReady();
    if (Number.isFinite(next)) this.#stopTimer = this.#clock.after(Math.max(1, next), () => this.#serve());
  }

  /** Serves the queues as far as the limits allow. Returns the milliseconds until the next turn. */
  #serveReady(): number {
    for (;;) {
      const next = this.#queues.turn === undefined ? this.#takeTurn() : 0;
      if (this.#queues.turn === undefined) return next;
      const closed = this.#ceiling?.wait(this.#queues.waiting + 1);
      if (closed !== undefined) return closed.ms;
      const slot = this.#ceiling?.take();
      const { waiter, permit } = this.#queues.turn;
      this.#queues.turn = undefined;
      waiter.grant({ ...permit, slot });
    }
  }

  /** Gives the next call its tokens. Returns the milliseconds until one can have them, if none can now. */
  #takeTurn(): number {
    let next = Number.POSITIVE_INFINITY;
    const ready: WaitQueue[] = [];
    for (const queue of this.#queues) {
      if (queue.size === 0) continue;
      const now = this.#clock.now();
      const wait = this.#forecast.wait(queue.policies, queue.size, now);
      queue.wait = wait;
      queue.waitFoundAt = now;
      if (wait === undefined) ready.push(queue);
      else {
        this.#rejectImpatient(queue);
        // A queue that is empty now needs no timer.
        if (queue.size > 0) next = Math.min(next, Math.ceil(wait.ms));
      }
    }
    const waiter = this.#queues.takeTurn(ready);
    if (waiter !== undefined) this.#queues.turn = { waiter, permit: this.#take(waiter.queue.policies) };
    return next;
  }

  /** Rejects the calls of a queue that do not wait for its next token, because it is too far away. */
  #rejectImpatient(queue: WaitQueue): void {
    const far = this.#tooFar(queue.policies, 0);
    if (far === undefined) return;
    for (const waiter of queue.takeImpatient(far.ms)) waiter.reject(far);
  }

  /** Whether a 429 keeps a route from being sent. A request that has its tokens already is not sent then, either. */
  isHeld(route: PacedRoute): boolean {
    return this.paced && this.#isHeld(this.#routes.of(route));
  }

  #isHeld(policies: readonly string[]): boolean {
    const now = this.#clock.now();
    return this.#forecast.unread(now) !== undefined || this.#tokens.isHeld(policies, now);
  }

  /**
   * Sends no call for `ms` milliseconds, or until the returned function is called: the head of a 429 has arrived, and its body, which says
   * whether the rate limit is the reason, has not.
   */
  pause(ms: number): () => void {
    const pause = { until: this.#clock.now() + ms };
    this.#unread.add(pause);
    return () => void this.#unread.delete(pause);
  }

  /** Learns from a response's headers and status. A 429 for the rate limit goes to {@link refuse}. */
  observe(route: PacedRoute, permit: Permit, headers: Pick<Headers, "get">, { status = 200 } = {}): void {
    this.#learn(route, permit, headers, status);
    this.#serve();
  }

  #learn(route: PacedRoute, permit: Permit, headers: Pick<Headers, "get">, status: number): RateLimitReport {
    const report = this.#headers.read(headers);
    const outcome = gatewayOutcomeOf(status, report);
    if (report.size === 0 && outcome !== "served") {
      // A gateway responded: the service has shown nothing of its buckets, and may not have counted the request.
      // After a 429 a hold follows, so that more probes need not make up for it.
      this.#drop(permit, outcome, status === 429 ? "lost" : "gateway");
      return report;
    }
    const now = this.#clock.now();
    this.#gatewayLimit.end(permit.gatewayRequest, outcome, now);
    const named = this.#tokens.observe(permit.tokens, report, now);
    if (named !== undefined) {
      this.#reroute(route, () => {
        for (const policy of this.#routes.learn(route, named)) this.#buckets.observeNew(policy, report);
      });
    }
    return report;
  }

  /** Removes a request that ended without a response. One that was never sent returns its tokens. */
  forget(permit: Permit, unsent = false): void {
    this.#drop(permit, "lost", unsent ? "unsent" : "lost");
    this.#serve();
  }

  /** Returns the tokens and the slot of a request that is not sent. */
  giveBack(permit: Permit): void {
    if (permit.slot !== undefined) this.#ceiling?.giveBack(permit.slot);
    this.forget(permit, true);
  }

  #drop({ tokens, gatewayRequest }: Permit, outcome: GatewayOutcome, ending: Ending): void {
    this.#gatewayLimit.end(gatewayRequest, outcome, this.#clock.now());
    this.#tokens.forget(tokens, ending);
  }

  /**
   * Learns from a 429, and holds policies for `ms` milliseconds before another call is sent: those that the response reports as empty. When
   * it reports no empty policy and `sure` says that the rate limit is the reason, those of the request that it does not report, or else all
   * of them.
   *
   * @returns the policies that are held.
   */
  refuse(
    route: PacedRoute,
    permit: Permit,
    headers: Pick<Headers, "get">,
    { ms, sure = true }: RefuseOptions,
  ): readonly string[] {
    const report = this.#learn(route, permit, headers, 429);
    const reported = (policy: string) => this.#buckets.reportOf(policy, report);
    const empty = this.#buckets.named(report).filter((policy) => reported(policy)?.empty);
    // One of its own policies explains the refusal: the others may be empty for other routes.
    const isExplained = empty.some((policy) => this.#routes.of(route).includes(policy));
    this.#reroute(route, () => {
      for (const policy of isExplained ? [] : empty)
        if (this.#routes.addRefusal(route, policy)) this.#buckets.observeNew(policy, report);
    });
    const policies = this.#routes.of(route);
    const unreported = policies.filter((policy) => reported(policy)?.remaining === undefined);
    const likely = unreported.length > 0 ? unreported : policies;
    const held = empty.length > 0 || (!sure && report.size > 0) ? empty : likely;
    this.#tokens.hold(held, ms);
    this.#serve();
    return held;
  }

  /** Runs `learn`, then moves the waiting calls of a route to the queue of its policies. */
  #reroute(route: PacedRoute, learn: () => void): void {
    const before = this.#queues.of(this.#routes.of(route));
    learn();
    this.#queues.move(route.call, before, this.#queues.of(this.#routes.of(route)));
  }
}
