import type { PartnerClock } from "../../util/clock.ts";
import { alwaysWaited, type Ending, probePeriod } from "./bucket.ts";
import { Ceiling, type CeilingLimit } from "./ceiling.ts";
import { type Fate, fateOf, GatewayLimit, type Passage } from "./gateway-limit.ts";
import { RateLimitReader, type RateLimitReport, type Rename } from "./headers.ts";
import { type DistantToken, type Permit, type Priority, type Waiter, type WaitQueue, WaitQueues } from "./queue.ts";
import { Buckets, type PacedRoute, Routes, type TokenSource } from "./tokens.ts";
import { longer, type PauseReason, type Wait } from "./wait.ts";

/** A call that has waited for so many milliseconds reports it: a little less than the 300 that are promised, because a timer can be late. */
const reportedAfter = 290;
/** These waits usually end with a response or a reply, long before their time is over: they are reported when they have lasted. */
const endsEarly: ReadonlySet<PauseReason> = new Set(["probe", "slow-start", "fleet"]);

export interface PacerOptions {
  /** Opens a source of tokens other than this process's own buckets. The source calls `wake` when tokens have come. */
  readonly open?: ((own: Buckets, wake: () => void) => TokenSource) | undefined;
  /** The partner's own ceiling. */
  readonly ceiling?: CeilingLimit | undefined;
  /** Whether calls wait for their turn. Default true. */
  readonly paced?: boolean;
}

/** How a call waits. Each field is optional. */
export interface Acquiring {
  /** The request had its turn and was refused: it comes before all others of its priority. */
  readonly again?: boolean;
  /** The request comes even before those: it must be sent soon, or another one waits for it with its tokens. */
  readonly first?: boolean;
  /** The call does not wait for a token that is further away than this many milliseconds. */
  readonly maxRetryAfter?: number;
  /** Called once when the call waits for longer than a moment, with the reason and the expected time. */
  readonly report?: ((wait: Wait) => void) | undefined;
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

/** Ends a call's wait: the next token is further away than this call waits. */
export class TokenTooFar extends Error {
  readonly policy: string;
  /** Milliseconds until the token comes. */
  readonly ms: number;

  constructor({ policy, ms }: DistantToken) {
    super(`the next token of ${policy} comes in ${ms} ms`);
    this.policy = policy;
    this.ms = ms;
  }
}

/** The state of one policy. */
export interface RateLimit {
  /** Tokens that the full bucket holds. */
  readonly quota: number;
  /** Milliseconds in which the bucket refills from empty. */
  readonly window: number;
  /** Tokens in the bucket, as far as this process knows. */
  readonly remaining: number;
  /** Milliseconds until the next call may go; 0 when one may go now. */
  readonly nextTokenIn: number;
  /** Calls of this client that are waiting for a token. */
  readonly waiting: number;
  /** What the first of them waits for; undefined when none waits. */
  readonly reason: PauseReason | undefined;
}

/** The rate limits as this process knows them. */
export interface RateLimits {
  /**
   * Each policy by its name. The service chooses the names: the record has no prototype, so that `constructor` and `__proto__` are
   * names like any other.
   */
  readonly policies: Readonly<Record<string, RateLimit>>;
  /**
   * Milliseconds until `calls` more calls have their tokens, behind all calls that wait already, at the rate of this process now.
   * This is an estimate: other processes can start and stop.
   *
   * @param policy A policy that the calls draw from beside `default`, for example `uploads`. Default: none.
   * @example
   * if (partner.rateLimits.estimate(items.length) > 60_000) console.log("This takes more than a minute.");
   */
  readonly estimate: (calls: number, policy?: string) => number;
}

/** Milliseconds until the turn of the n-th call, as far as the first call's wait says: while no response comes, the number of probes doubles. */
function untilTurn({ ms, reason }: Wait, rank: number): number {
  const probing = reason === "probe" ? probePeriod * Math.floor(Math.log2(rank)) : 0;
  return Number.isFinite(ms) ? Math.max(1, ms) + probing : 0;
}

/** Grants tokens to requests, first come, first served within a priority, and learns from every response. */
export class Pacer {
  readonly #clock: PartnerClock;
  readonly #tokens: TokenSource;
  readonly #queues = new WaitQueues();
  readonly #routes = new Routes();
  readonly #gatewayLimit = new GatewayLimit();
  readonly #headers = new RateLimitReader();
  readonly #ceiling: Ceiling | undefined;
  readonly #paced: boolean;
  /** The call that has its tokens and waits for its slot of the ceiling. */
  #first: { readonly waiter: Waiter; readonly permit: Permit } | undefined;
  #stopTimer: (() => void) | undefined;
  /** The requests that keep their tokens. */
  #kept = 0;

  constructor(clock: PartnerClock, { open = (own) => own, ceiling, paced = true }: PacerOptions = {}) {
    this.#clock = clock;
    this.#paced = paced;
    const tokens = open(new Buckets(clock), () => this.#serve());
    this.#tokens = tokens;
    this.#ceiling = ceiling && new Ceiling(ceiling, clock, tokens.reserve?.bind(tokens), () => this.#serve());
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
    return this.#waitFor(policies, 1) === undefined ? this.#take(policies) : undefined;
  }

  /** Counts a request without waiting, for a client that does not pace itself. */
  takeAnyway(route: PacedRoute): Permit {
    return this.#take(this.#routes.of(route));
  }

  /** What keeps the first of so many calls from its tokens now: the limit that keeps it the longest. */
  #waitFor(policies: readonly string[], calls: number): Wait | undefined {
    return longer(this.#gatewayLimit.wait(this.#clock.now()), this.#tokens.wait(policies, calls));
  }

  #take(policies: readonly string[]): Permit {
    return { passage: this.#gatewayLimit.take(this.#clock.now()), grant: this.#tokens.take(policies) };
  }

  /**
   * Keeps the tokens of a request while another one gets its own, so that both are sent together. Returns a function that ends it;
   * undefined where the other one might wait for these tokens: in a bucket of one token, and for a probe.
   */
  keep(route: PacedRoute): (() => void) | undefined {
    const policies = this.#routes.of(route);
    const room = Math.min(this.#ceiling?.burst ?? Infinity, ...policies.map((each) => this.#tokens.level(each).quota));
    if (this.#kept + 2 > room || this.#waitFor(policies, 1)?.reason === "probe") return undefined;
    this.#kept += 1;
    return () => {
      this.#kept -= 1;
    };
  }

  /**
   * Milliseconds that may pass between two requests of a route, when the second one comes before all others. With `alone`, only where the
   * limits let one request pass at a time; 0 elsewhere.
   */
  apart(route: PacedRoute, alone = false): number {
    if (!this.#paced) return 0;
    const { burst, window } = this.#ceiling ?? { burst: Infinity, window: 0 };
    const levels = this.#routes.of(route).map((policy) => this.#tokens.level(policy));
    const waits = levels.map(({ quota, window }) => (alone && quota >= 2 ? 0 : window / quota));
    return Math.max(alone && burst >= 2 ? 0 : window, ...waits);
  }

  /**
   * Waits in the queue for the tokens of a request, then for a slot of the ceiling. Leaving the queue costs no token.
   *
   * @throws {@link TokenTooFar} when the next token is further away than `maxRetryAfter` milliseconds.
   */
  async acquire(route: PacedRoute, priority: Priority, scope: Cancelable, acquiring: Acquiring = {}): Promise<Permit> {
    const {
      again = false,
      first = false,
      maxRetryAfter = Number.POSITIVE_INFINITY,
      report = () => undefined,
    } = acquiring;
    const policies = this.#routes.of(route);
    const far = this.#tooFar(policies, maxRetryAfter);
    if (far !== undefined) {
      // From time to time one request is sent without the token, because the headers may be wrong.
      const closed = this.#first !== undefined || this.#ceiling?.wait(1) !== undefined;
      if (!this.#tokens.mayCheck(far.policy, maxRetryAfter) || closed) throw new TokenTooFar(far);
      return { ...this.#take(policies), slot: this.#ceiling?.take() };
    }
    let stopReport: () => void = () => undefined;
    try {
      return await scope.hold<Permit>(({ resolve, reject }) => {
        const isTurnOpen = first && this.#yieldTurn();
        const waiter = this.#queues.join(this.#queues.of(policies), {
          call: route.call,
          priority,
          again,
          first,
          maxRetryAfter,
          grant: resolve,
          reject: (token) => reject(new TokenTooFar(token)),
        });
        // An occupied queue already has a timer for its next turn.
        if (waiter.queue.size === 1 || isTurnOpen) this.#serve();
        stopReport = this.#reportWait(waiter, report);
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
  #tooFar(policies: readonly string[], maxRetryAfter: number): DistantToken | undefined {
    let far: DistantToken | undefined;
    for (const policy of policies) {
      const ms = this.#tokens.away(policy);
      if (ms > Math.max(maxRetryAfter, alwaysWaited, far?.ms ?? 0)) far = { policy, ms };
    }
    return far;
  }

  /** Takes the turn from a call that waits for its slot, for one that comes before it. Returns whether there was one. */
  #yieldTurn(): boolean {
    if (this.#first === undefined || this.#first.waiter.first) return false;
    const { waiter, permit } = this.#first;
    this.#first = undefined;
    waiter.queue.lines[waiter.priority].putBack(waiter);
    this.#end(permit.passage, "lost");
    this.#tokens.forget(permit.grant, "unsent");
    return true;
  }

  #leave(waiter: Waiter): void {
    if (this.#first?.waiter === waiter) {
      const { permit } = this.#first;
      this.#first = undefined;
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
    if (this.#first === undefined && !this.#queues.occupied) return;
    const next = this.#serveReady();
    if (Number.isFinite(next)) this.#stopTimer = this.#clock.after(Math.max(1, next), () => this.#serve());
  }

  /** Serves the queues as far as the limits allow. Returns the milliseconds until the next turn. */
  #serveReady(): number {
    for (;;) {
      const next = this.#first === undefined ? this.#takeTurn() : 0;
      if (this.#first === undefined) return next;
      const closed = this.#ceiling?.wait(this.#queues.waiting + 1);
      if (closed !== undefined) return closed.ms;
      const slot = this.#ceiling?.take();
      const { waiter, permit } = this.#first;
      this.#first = undefined;
      waiter.grant({ ...permit, slot });
    }
  }

  /** Gives the first call whose tokens are available its tokens. Returns the milliseconds until there are some if there is none. */
  #takeTurn(): number {
    let next = Number.POSITIVE_INFINITY;
    const ready: WaitQueue[] = [];
    for (const queue of this.#queues) {
      if (queue.size === 0) continue;
      const wait = this.#waitFor(queue.policies, queue.size);
      queue.wait = wait;
      queue.waitFound = this.#clock.now();
      if (wait === undefined) ready.push(queue);
      else {
        this.#rejectImpatient(queue);
        // A queue that is empty now needs no timer.
        if (queue.size > 0) next = Math.min(next, Math.ceil(wait.ms));
      }
    }
    const waiter = this.#queues.takeTurn(ready);
    if (waiter !== undefined) this.#first = { waiter, permit: this.#take(waiter.queue.policies) };
    return next;
  }

  /** Rejects the calls of a queue that do not wait for a token that is so far away. */
  #rejectImpatient(queue: WaitQueue): void {
    const far = this.#tooFar(queue.policies, 0);
    if (far === undefined) return;
    for (const waiter of queue.takeImpatient(far.ms)) waiter.reject(far);
  }

  /** What keeps the first call, which has its tokens, from being sent. */
  #untilOpen(): Wait | undefined {
    return (
      this.#first && (this.#ceiling?.wait(this.#queues.waiting + 1) ?? { ms: 0, reason: "ceiling", policy: "default" })
    );
  }

  /** What keeps the first call of a queue from being sent, by the latest look at it, or now while another call waits for its slot. */
  #waitOf({ policies, size, wait, waitFound }: WaitQueue): Wait | undefined {
    const open = this.#untilOpen();
    if (open !== undefined) return longer(open, size > 0 ? this.#waitFor(policies, size) : undefined);
    return wait && { ...wait, ms: Math.max(0, waitFound + wait.ms - this.#clock.now()) };
  }

  /**
   * Reports once why a call waits: at once when it is known that it waits for longer than a moment, or else when it has done so. Returns a
   * function that says that the wait is over. It serves no call: how many requests are in flight must not depend on who looks.
   */
  #reportWait(waiter: Waiter, report: (wait: Wait) => void): () => void {
    const waitNow = () => (this.#first?.waiter === waiter ? this.#untilOpen() : this.#waitOf(waiter.queue));
    const wait = waitNow();
    if (wait !== undefined && !endsEarly.has(wait.reason)) {
      const ms = this.#expect(waiter, wait);
      if (ms > reportedAfter) {
        report({ ...wait, ms });
        return () => undefined;
      }
    }
    let stop: () => void = () => undefined;
    const reportNow = () => {
      const present = waitNow();
      // Nothing keeps a queue whose turn it is just now.
      if (present === undefined) stop = this.#clock.after(1, reportNow);
      else report({ ...present, ms: this.#expect(waiter, present) });
    };
    stop = this.#clock.after(reportedAfter, reportNow);
    return () => stop();
  }

  /** Whole milliseconds until a call may be sent: at least as long as the tokens of all calls before it take. */
  #expect(waiter: Waiter, wait: Wait): number {
    if (this.#first?.waiter === waiter) return Math.ceil(untilTurn(wait, 1));
    const rank = (policy: string) => this.#queues.rank(waiter, policy);
    const known = waiter.queue.policies.map((policy) => this.#tokens.until(policy, rank(policy)));
    return Math.ceil(Math.max(untilTurn(wait, rank("default")), this.#untilSent(rank("default")), ...known));
  }

  /** Milliseconds until this number of requests may be sent, by the limits that are no bucket of the service. */
  #untilSent(requests: number): number {
    const next = this.#gatewayLimit.wait(this.#clock.now())?.ms ?? 0;
    return Math.max(next + (requests - 1) * this.#gatewayLimit.interval, this.#untilSlot(requests));
  }

  /** Milliseconds until this number of requests has its slots of the ceiling, behind the one that waits for its slot. */
  #untilSlot(requests: number): number {
    return this.#ceiling?.until(requests + (this.#first === undefined ? 0 : 1)) ?? 0;
  }

  /**
   * Learns from a response's headers and status.
   * @param options.redact Removes the secret key from the name of a policy.
   */
  observe(
    route: PacedRoute,
    { grant, passage }: Permit,
    headers: Pick<Headers, "get">,
    { status = 200, redact }: { readonly status?: number; readonly redact?: Rename } = {},
  ): RateLimitReport {
    const report = this.#headers.read(headers, redact);
    const fate = fateOf(status, report);
    if (report.size === 0 && fate !== "served") {
      // A gateway responded: the service has shown nothing of its buckets, and may not have counted the request.
      this.#release({ grant, passage }, fate, "gateway");
      return report;
    }
    this.#end(passage, fate);
    const named = this.#tokens.observe(grant, report);
    if (named !== undefined) {
      this.#reroute(route, () => {
        for (const policy of this.#routes.learn(route, named)) this.#tokens.observeNew(policy, report);
      });
    }
    this.#serve();
    return report;
  }

  #end(passage: Passage, fate: Fate): void {
    this.#gatewayLimit.end(passage, fate, this.#clock.now());
  }

  /** Removes a request that ended without a response. One that was never sent returns its tokens. */
  forget(permit: Permit, unsent = false): void {
    this.#release(permit, "lost", unsent ? "unsent" : "lost");
  }

  /** Returns all that a request was granted which is not sent. */
  giveBack(permit: Permit): void {
    if (permit.slot !== undefined) this.#ceiling?.giveBack(permit.slot);
    this.forget(permit, true);
  }

  #release({ grant, passage }: Permit, fate: Fate, ending: Ending): void {
    this.#end(passage, fate);
    this.#tokens.forget(grant, ending);
    this.#serve();
  }

  /**
   * Holds policies for `ms` milliseconds after the service refused a request: those that the response reports as empty. When it reports no
   * empty policy and `sure` says that the rate limit is the reason, those of the request that it does not report, or else all of them.
   *
   * @returns the policies that are held.
   */
  hold(route: PacedRoute, report: RateLimitReport, ms: number, sure = true): readonly string[] {
    const reported = (policy: string) => this.#tokens.reportOf(policy, report);
    const empty = this.#tokens.named(report).filter((policy) => reported(policy)?.empty);
    this.#reroute(route, () => {
      for (const policy of empty) if (this.#routes.addRefusal(route, policy)) this.#tokens.observeNew(policy, report);
    });
    const policies = this.#routes.of(route);
    const unreported = policies.filter((policy) => reported(policy)?.remaining === undefined);
    const likely = unreported.length > 0 ? unreported : policies;
    const held = empty.length > 0 || !sure ? empty : likely;
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

  /** The rate limits as this process knows them now. */
  rateLimits(): RateLimits {
    const policies: Record<string, RateLimit> = Object.create(null);
    for (const policy of this.#tokens.names()) policies[policy] = this.#stateOf(policy);
    return {
      policies,
      // Every call draws from `default`, too (specification 8).
      estimate: (calls, policy = "default") =>
        Math.max(this.#estimate(calls, policy), this.#estimate(calls, "default")),
    };
  }

  #estimate(calls: number, policy: string): number {
    const all = this.#queues.waitingFor(policy) + calls;
    const ms = this.#tokens.until(policy, all);
    if (all < 1 || !this.#paced) return ms;
    return Math.max(ms, this.#untilSent(all), this.#stateOf(policy, all).nextTokenIn);
  }

  /**
   * No token is free while calls wait for one, whatever keeps them from taking it.
   *
   * @param rank The call for which `nextTokenIn` is: the first one, or a later one as far as the first one's wait says.
   */
  #stateOf(policy: string, rank = 1): RateLimit {
    const level = this.#tokens.level(policy);
    if (!this.#paced) return { ...level, nextTokenIn: 0, waiting: 0, reason: undefined };
    let waiting = 0;
    let longest: Wait | undefined;
    const gateway = this.#gatewayLimit.wait(this.#clock.now())?.ms ?? 0;
    let nextTokenIn = Math.max(level.nextTokenIn, gateway, this.#ceiling?.until(1) ?? 0);
    for (const { wait, calls } of this.#waits()) {
      if (wait.policy !== policy) continue;
      waiting += calls;
      longest = longer(longest, wait);
      nextTokenIn = Math.max(nextTokenIn, 1, untilTurn(wait, rank));
    }
    const remaining = waiting > 0 ? 0 : level.remaining;
    return { ...level, remaining, nextTokenIn, waiting, reason: longest?.reason };
  }

  /** What the calls wait for that wait now, and how many they are. */
  *#waits(): Generator<{ readonly wait: Wait; readonly calls: number }> {
    const open = this.#untilOpen();
    if (open !== undefined) yield { wait: open, calls: 1 };
    for (const queue of this.#queues) {
      const wait = queue.size > 0 ? this.#waitOf(queue) : undefined;
      if (wait !== undefined) yield { wait, calls: queue.size };
    }
  }
}
