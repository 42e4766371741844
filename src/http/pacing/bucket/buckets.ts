import type { PartnerClock } from "../../../util/clock.ts";
import type { Policy } from "../../endpoint/endpoint.ts";
import type { PolicyReport, RateLimitReport } from "../headers.ts";
import { Bucket } from "./bucket.ts";
import type { SentRequest } from "./sent-request.ts";
import type { Grant, PolicyLevel, TokenSource } from "./token-source.ts";

/** Holds until an answer says otherwise (specification 8). Windows in milliseconds. */
export const specified: ReadonlyMap<string, { readonly quota: number; readonly window: number }> = new Map([
  ["default", { quota: 3000, window: 60_000 }],
  ["uploads", { quota: 5000, window: 86_400_000 }],
  ["downloads", { quota: 100_000, window: 86_400_000 }],
] satisfies [Policy, object][]);
/** Holds for a policy that the specification does not know. */
const unspecified = { quota: 3000, window: 60_000 };

/** More policies than any service has. */
const memory = 50;

/** This process's own pictures of the service's buckets, one a policy. */
export class Buckets implements TokenSource {
  readonly #clock: PartnerClock;
  readonly #buckets = new Map<string, Bucket>();
  /** What the service calls those policies that it has renamed. */
  readonly #renamed = new Map<string, string>();

  constructor(clock: PartnerClock) {
    this.#clock = clock;
  }

  wait(policies: readonly string[]): number {
    const now = this.#clock.now();
    let longest = 0;
    for (const policy of policies) longest = Math.max(longest, this.bucket(policy).wait(now));
    return longest;
  }

  beat(policies: readonly string[]): number {
    const now = this.#clock.now();
    let beat = 0;
    let longest = 0;
    for (const policy of policies) {
      const bucket = this.bucket(policy);
      const wait = bucket.wait(now);
      if (wait <= longest) continue;
      longest = wait;
      beat = bucket.interval;
    }
    return beat;
  }

  take(policies: readonly string[]): Grant {
    const now = this.#clock.now();
    const tickets = new Map<string, SentRequest>();
    for (const policy of policies) tickets.set(policy, this.bucket(policy).take(now));
    return { tickets };
  }

  observe({ tickets }: Grant, report: RateLimitReport): readonly string[] | undefined {
    const now = this.#clock.now();
    const asKnown = this.#names(tickets, report);
    if (!asKnown && report.size > 0) this.#followNames(tickets.keys(), report);
    for (const [policy, ticket] of tickets) this.bucket(policy).observe(ticket, this.reportOf(policy, report), now);
    if (report.size === 0 || (asKnown && report.size === tickets.size)) return undefined;
    const policies = new Map([...this.#buckets.keys()].map((policy) => [this.#nameOf(policy), policy]));
    // A policy that has been renamed may be named by both of its names.
    return [...new Set([...report.keys()].map((name) => policies.get(name) ?? name))];
  }

  meet(policy: string, report: RateLimitReport): void {
    const now = this.#clock.now();
    const bucket = this.bucket(policy);
    bucket.observe(bucket.take(now), this.reportOf(policy, report), now);
  }

  /** Whether an answer names all that a request has drawn from: nearly every one does, and nothing else. */
  #names(tickets: Grant["tickets"], report: RateLimitReport): boolean {
    for (const policy of tickets.keys()) if (this.reportOf(policy, report) === undefined) return false;
    return true;
  }

  reportOf(policy: string, report: RateLimitReport): PolicyReport | undefined {
    return report.get(this.#nameOf(policy));
  }

  /** What the service calls a policy by now. */
  #nameOf(policy: string): string {
    return this.#renamed.get(policy) ?? policy;
  }

  /**
   * Where an answer names an unknown policy in place of one that it should name, the policy has another name now: its bucket goes on,
   * with what is on its way. Which it is is told by the same quota and window, or, where no answer has ever told any, by there being no
   * other. One that still goes by its old name elsewhere has not been renamed.
   */
  #followNames(policies: Iterable<string>, report: RateLimitReport): void {
    for (const policy of report.keys()) this.#renamed.delete(policy);
    const names = new Set([...this.#buckets.keys()].map((policy) => this.#nameOf(policy)));
    const unknown = [...report].filter(([name]) => !names.has(name));
    const missing = [...policies].filter((policy) => this.reportOf(policy, report) === undefined);
    for (const policy of missing) {
      const { quota, window, told: known } = this.bucket(policy);
      const alike = unknown.filter(([, told]) => told.quota === quota && told.window === window);
      const [found, other] = alike.length === 0 && !known && missing.length === 1 ? unknown : alike;
      if (found !== undefined && other === undefined) this.#renamed.set(policy, found[0]);
    }
  }

  forget({ tickets }: Grant): void {
    const now = this.#clock.now();
    for (const [policy, ticket] of tickets) this.bucket(policy).forget(ticket, now);
  }

  hold(policies: readonly string[], ms: number, said: number): void {
    const now = this.#clock.now();
    for (const policy of policies) this.bucket(policy).hold(now + ms, now, now + said);
  }

  away(policy: string): number {
    return this.bucket(policy).away(this.#clock.now());
  }

  doubt(policy: string, patience: number): void {
    this.bucket(policy).doubt(patience, this.#clock.now());
  }

  level(policy: string): PolicyLevel {
    const now = this.#clock.now();
    const bucket = this.bucket(policy);
    return {
      quota: bucket.quota,
      window: bucket.window,
      remaining: bucket.remaining(now),
      nextTokenIn: bucket.wait(now),
    };
  }

  until(policy: string, tokens: number): number {
    return this.bucket(policy).until(tokens, this.#clock.now());
  }

  names(): Iterable<string> {
    return new Set([...specified.keys(), ...this.#buckets.keys()]);
  }

  /** A service that names ever other policies does not fill the memory: the oldest that nothing is on its way to goes. */
  #forgetOne(): void {
    if (this.#buckets.size < memory) return;
    for (const [policy, bucket] of this.#buckets) {
      if (specified.has(policy) || bucket.underWay > 0) continue;
      this.#buckets.delete(policy);
      this.#renamed.delete(policy);
      return;
    }
  }

  /** The picture of one policy. */
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
