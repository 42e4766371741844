import type { PartnerClock } from "../../util/clock.ts";
import { Latest } from "../../util/latest.ts";
import { Bucket, type Ending } from "./bucket.ts";
import type { Reserve } from "./ceiling.ts";
import type { PolicyReport, RateLimitReport } from "./headers.ts";
import type { SentRequest } from "./in-flight.ts";
import { longer, type Wait } from "./wait.ts";

/*
 * Where requests get their tokens: the contract, this process's own buckets, and how a client joins a fleet that shares them.
 */

/** The tokens of one request, one of each bucket that it draws from: the request as each bucket keeps it, by policy. */
export type TakenTokens = ReadonlyMap<string, SentRequest>;

/** What is known of one policy. */
export interface PolicyLevel {
  readonly quota: number;
  /** Milliseconds in which the quota refills. */
  readonly window: number;
  /** Tokens in the bucket. */
  readonly remaining: number;
  /** Milliseconds until the next token can be used; 0 when one can be used now. */
  readonly nextTokenIn: number;
}

/** Where requests get their tokens: this process's own buckets, or the buckets that a fleet shares. */
export interface TokenSource {
  /**
   * What keeps a request that draws from these policies from taking its tokens now.
   *
   * @param wanted How many requests wait for tokens.
   */
  wait(policies: readonly string[], now: number, wanted: number): Wait | undefined;
  /** Takes a token of each policy, also from an empty bucket. */
  take(policies: readonly string[], now: number): TakenTokens;
  /** Learns from a response's headers. Returns the named policies if they differ from those that the request drew from. */
  observe(tokens: TakenTokens, report: RateLimitReport, now: number): readonly string[] | undefined;
  /** Removes a request that ended without a response of the service. */
  forget(tokens: TakenTokens, ending: Ending): void;
  /** Holds the policies for `ms` milliseconds after the service refused a request for its rate limit. */
  hold(policies: readonly string[], ms: number): void;
  /** Whether a 429 holds any of the policies. */
  isHeld(policies: readonly string[], now: number): boolean;
  /** Milliseconds until the next token comes, by a 429 or by the quota. The queue does not count. */
  distance(policy: string): number;
  /**
   * Whether a call that does not wait for a distant token may be sent without one, to check what the headers said.
   *
   * @param maxRetryAfter Milliseconds that the call would wait.
   */
  mayCheck(policy: string, maxRetryAfter: number): boolean;
  level(policy: string): PolicyLevel;
  /** Milliseconds until this number of tokens has come, at the present rate. */
  until(policy: string, tokens: number): number;
  /** Reserves slots of the partner's own ceiling for the whole fleet. */
  readonly reserve?: Reserve;
}

/** The limits that apply until a response reports others (specification 8). Windows in milliseconds. */
const specified: ReadonlyMap<string, { readonly quota: number; readonly window: number }> = new Map([
  ["default", { quota: 3000, window: 60_000 }],
  ["uploads", { quota: 5000, window: 86_400_000 }],
  ["downloads", { quota: 100_000, window: 86_400_000 }],
]);
/** The assumed limits of a policy that the specification does not name. */
const unspecified = { quota: 3000, window: 60_000 };

/** The maximum number of policies that are remembered: a service can always name new ones. */
const maxPolicies = 50;

/** This process's own models of the service's buckets, one per policy. */
export class Buckets implements TokenSource {
  readonly #clock: PartnerClock;
  readonly #buckets = new Map<string, Bucket>();
  /** The present names of the policies that the service has renamed. */
  readonly #renamed = new Map<string, string>();

  constructor(clock: PartnerClock) {
    this.#clock = clock;
  }

  wait(policies: readonly string[], now: number): Wait | undefined {
    let longest: Wait | undefined;
    for (const policy of policies) {
      const wait = this.bucket(policy).wait(now);
      if (wait !== undefined) longest = longer(longest, { ...wait, policy });
    }
    return longest;
  }

  take(policies: readonly string[], now: number): TakenTokens {
    return new Map(policies.map((policy) => [policy, this.bucket(policy).take(now)]));
  }

  observe(tokens: TakenTokens, report: RateLimitReport, now: number): readonly string[] | undefined {
    const asKnown = this.#namesAll(tokens.keys(), report);
    if (!asKnown && report.size > 0) this.#followNames(tokens.keys(), report);
    for (const [policy, request] of tokens) this.bucket(policy).observe(request, this.reportOf(policy, report), now);
    return report.size === 0 || (asKnown && report.size === tokens.size) ? undefined : this.named(report);
  }

  /** The policies that a response names. */
  named(report: RateLimitReport): readonly string[] {
    const policies = new Map([...this.#buckets.keys()].map((policy) => [this.#nameOf(policy), policy]));
    // A response may name a renamed policy by both of its names.
    return [...new Set([...report.keys()].map((name) => policies.get(name) ?? name))];
  }

  /** Learns about a policy that a request drew from without a token of it. */
  observeNew(policy: string, report: RateLimitReport): void {
    this.bucket(policy).observeNew(this.reportOf(policy, report), this.#clock.now());
  }

  /** Whether a response names all policies that the request drew from. */
  #namesAll(policies: Iterable<string>, report: RateLimitReport): boolean {
    for (const policy of policies) if (this.reportOf(policy, report) === undefined) return false;
    return true;
  }

  /** What a response reports about a policy, by the policy's present name. */
  reportOf(policy: string, report: RateLimitReport): PolicyReport | undefined {
    return report.get(this.#nameOf(policy));
  }

  /** The present name of a policy. */
  #nameOf(policy: string): string {
    return this.#renamed.get(policy) ?? policy;
  }

  /**
   * Follows a policy that the service has renamed: the response names an unknown policy and lacks one that the request drew from. The
   * bucket stays the same, with its requests in flight. The unknown policy is the renamed one if its quota and window are the same, or,
   * when no response has reported these, if there is no other candidate. A policy that still has its old name in this response was not
   * renamed.
   */
  #followNames(policies: Iterable<string>, report: RateLimitReport): void {
    for (const policy of report.keys()) this.#renamed.delete(policy);
    const names = new Set([...this.names()].map((policy) => this.#nameOf(policy)));
    const unknown = [...report].filter(([name]) => !names.has(name));
    const missing = [...policies].filter((policy) => this.reportOf(policy, report) === undefined);
    for (const policy of missing) {
      const { quota, window, reported } = this.bucket(policy);
      const alike = unknown.filter(([, other]) => other.quota === quota && other.window === window);
      const [found, other] = alike.length === 0 && !reported && missing.length === 1 ? unknown : alike;
      if (found !== undefined && other === undefined) this.#renamed.set(policy, found[0]);
    }
  }

  forget(tokens: TakenTokens, ending: Ending): void {
    const now = this.#clock.now();
    for (const [policy, request] of tokens) this.bucket(policy).forget(request, now, ending);
  }

  hold(policies: readonly string[], ms: number): void {
    const now = this.#clock.now();
    const reportsLevels = [...this.#buckets.values()].some(({ reportedBefore }) => reportedBefore);
    for (const policy of policies) this.bucket(policy).hold(now + ms, now, reportsLevels);
  }

  isHeld(policies: readonly string[], now: number): boolean {
    return policies.some((policy) => this.bucket(policy).isHeld(now));
  }

  distance(policy: string): number {
    return this.bucket(policy).distance(this.#clock.now());
  }

  mayCheck(policy: string, maxRetryAfter: number): boolean {
    return this.bucket(policy).mayCheck(maxRetryAfter, this.#clock.now());
  }

  level(policy: string): PolicyLevel {
    const now = this.#clock.now();
    const bucket = this.bucket(policy);
    return {
      quota: bucket.quota,
      window: bucket.window,
      remaining: bucket.remaining(now),
      nextTokenIn: bucket.wait(now)?.ms ?? 0,
    };
  }

  until(policy: string, tokens: number): number {
    return this.bucket(policy).until(tokens, this.#clock.now());
  }

  /** The policies that are known. */
  names(): Iterable<string> {
    return new Set([...specified.keys(), ...this.#buckets.keys()]);
  }

  /** Removes the oldest policy without requests in flight when there are too many. */
  #forgetOne(): void {
    if (this.#buckets.size < maxPolicies) return;
    for (const [policy, bucket] of this.#buckets) {
      if (specified.has(policy) || bucket.inFlight > 0) continue;
      this.#buckets.delete(policy);
      this.#renamed.delete(policy);
      return;
    }
  }

  /** The bucket of one policy. */
  bucket(policy: string): Bucket {
    let bucket = this.#buckets.get(policy);
    if (bucket === undefined) {
      const { quota, window } = specified.get(policy) ?? unspecified;
      bucket = new Bucket(quota, window, this.#clock.now());
      this.#forgetOne();
      this.#buckets.set(policy, bucket);
    }
    return bucket;
  }
}

/** An endpoint, as pacing sees it. */
export interface PacedRoute {
  /** Its name. */
  readonly call: string;
  /** The policies that its requests draw from by the specification. */
  readonly policies: readonly string[];
}

/** The maximum number of routes that are remembered: `request` can take any number of paths. */
const maxRoutes = 1_000;

interface RoutePolicies {
  policies: readonly string[];
  /** Policies that it certainly draws from: the service refused a request because they were empty. */
  readonly certain: Set<string>;
}

/**
 * Which policies each route draws from: by its descriptor, and by its responses (specification 8: the assignment may change).
 *
 * A route draws from the policies that its latest response names. Some services name all of their policies in every response. Then the name
 * of a policy that the specification assigns to other routes proves nothing, and neither does any other new name beside it: only a refusal
 * for an empty policy does.
 */
export class Routes {
  readonly #routes = new Latest<RoutePolicies>(maxRoutes);

  of({ call, policies }: PacedRoute): readonly string[] {
    return this.#routes.get(call)?.policies ?? policies;
  }

  /** Learns which policies a response names. Returns those that the route did not draw from before. */
  learn(route: PacedRoute, named: readonly string[]): readonly string[] {
    const known = this.#known(route);
    const before = known.policies;
    const namesAll = named.some((policy) => specified.has(policy) && !route.policies.includes(policy));
    const drawn = named.filter(
      (policy) => route.policies.includes(policy) || known.certain.has(policy) || !(namesAll || specified.has(policy)),
    );
    if (drawn.length === 0) return [];
    const added = drawn.filter((policy) => !before.includes(policy));
    known.policies = [...before.filter((policy) => drawn.includes(policy)), ...added];
    return added;
  }

  /** Records that the service refused a request because a policy was empty. Returns whether the route is new to the policy. */
  addRefusal(route: PacedRoute, policy: string): boolean {
    const known = this.#known(route);
    known.certain.add(policy);
    if (known.policies.includes(policy)) return false;
    known.policies = [...known.policies, policy];
    return true;
  }

  #known({ call, policies }: PacedRoute): RoutePolicies {
    let known = this.#routes.get(call);
    if (known === undefined) {
      known = { policies, certain: new Set() };
      this.#routes.set(call, known);
    }
    return known;
  }
}

/** What a client passes when it joins a fleet. */
export interface Member {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly clock: PartnerClock;
  /** Called when the fleet's Redis cannot be reached, with the reason, and when it is back. */
  readonly onLost: (reason: string) => void;
  readonly onBack: () => void;
  /** The client's own buckets: always kept up to date, and used alone while it cannot be reached. */
  readonly own: Buckets;
  /** Serves the queues again after tokens have come. */
  readonly wake: () => void;
}

/** Makes the type opaque: a program's own object cannot share. It has no value. */
declare const opaque: unique symbol;

/** How a client joins a fleet. Only the client calls it: the published type shows no more than a name. */
export interface JoinFleet {
  readonly [opaque]?: never;
  /** @internal */
  (member: Member): TokenSource;
}

/** Keeps the buckets that a fleet of processes shares. Only `redisPacing` of `pod-partner/redis` makes one. */
export interface SharedPacing {
  /** Where the buckets are kept, for example `redis`. */
  readonly kind: string;
  /** Adds a client to the fleet. Only the client calls it. */
  readonly join: JoinFleet;
}
