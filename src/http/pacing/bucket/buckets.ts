import type { PartnerClock } from "../../../util/clock.ts";
import type { Policy } from "../../endpoint.ts";
import type { PolicyReport, RateLimitReport } from "../headers.ts";
import { longer, type Wait } from "../wait.ts";
import { Bucket } from "./bucket.ts";
import type { SentRequest } from "./sent-request.ts";
import type { Grant, PolicyLevel, TokenSource } from "./token-source.ts";

/** The limits that apply until a response reports others (specification 8). Windows in milliseconds. */
export const specified: ReadonlyMap<string, { readonly quota: number; readonly window: number }> = new Map([
  ["default", { quota: 3000, window: 60_000 }],
  ["uploads", { quota: 5000, window: 86_400_000 }],
  ["downloads", { quota: 100_000, window: 86_400_000 }],
] satisfies [Policy, object][]);
/** The assumed limits of a policy that the specification does not name. */
const unspecified = { quota: 3000, window: 60_000 };

/** The maximum number of policies that are remembered. */
const memory = 50;

/** This process's own models of the service's buckets, one per policy. */
export class Buckets implements TokenSource {
  readonly #clock: PartnerClock;
  readonly #buckets = new Map<string, Bucket>();
  /** The present names of the policies that the service has renamed. */
  readonly #renamed = new Map<string, string>();

  constructor(clock: PartnerClock) {
    this.#clock = clock;
  }

  wait(policies: readonly string[]): Wait | undefined {
    const now = this.#clock.now();
    let longest: Wait | undefined;
    for (const policy of policies) {
      const wait = this.bucket(policy).wait(now);
      if (wait !== undefined) longest = longer(longest, { ...wait, policy });
    }
    return longest;
  }

  take(policies: readonly string[]): Grant {
    const now = this.#clock.now();
    const requests = new Map<string, SentRequest>();
    for (const policy of policies) requests.set(policy, this.bucket(policy).take(now));
    return { requests };
  }

  observe({ requests }: Grant, report: RateLimitReport): readonly string[] | undefined {
    const now = this.#clock.now();
    const asKnown = this.#namesAll(requests, report);
    if (!asKnown && report.size > 0) this.#followNames(requests.keys(), report);
    for (const [policy, request] of requests) this.bucket(policy).observe(request, this.reportOf(policy, report), now);
    if (report.size === 0 || (asKnown && report.size === requests.size)) return undefined;
    const policies = new Map([...this.#buckets.keys()].map((policy) => [this.#nameOf(policy), policy]));
    // A response may name a renamed policy by both of its names.
    return [...new Set([...report.keys()].map((name) => policies.get(name) ?? name))];
  }

  observeNew(policy: string, report: RateLimitReport): void {
    const now = this.#clock.now();
    const bucket = this.bucket(policy);
    bucket.observe(bucket.take(now), this.reportOf(policy, report), now);
  }

  /** Whether a response names all policies that the request drew from. */
  #namesAll(requests: Grant["requests"], report: RateLimitReport): boolean {
    for (const policy of requests.keys()) if (this.reportOf(policy, report) === undefined) return false;
    return true;
  }

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
    const names = new Set([...this.#buckets.keys()].map((policy) => this.#nameOf(policy)));
    const unknown = [...report].filter(([name]) => !names.has(name));
    const missing = [...policies].filter((policy) => this.reportOf(policy, report) === undefined);
    for (const policy of missing) {
      const { quota, window, reported } = this.bucket(policy);
      const alike = unknown.filter(([, other]) => other.quota === quota && other.window === window);
      const [found, other] = alike.length === 0 && !reported && missing.length === 1 ? unknown : alike;
      if (found !== undefined && other === undefined) this.#renamed.set(policy, found[0]);
    }
  }

  forget({ requests }: Grant): void {
    const now = this.#clock.now();
    for (const [policy, request] of requests) this.bucket(policy).forget(request, now);
  }

  hold(policies: readonly string[], ms: number, retryAfter: number): void {
    const now = this.#clock.now();
    for (const policy of policies) this.bucket(policy).hold(now + ms, now, now + retryAfter);
  }

  away(policy: string): number {
    return this.bucket(policy).away(this.#clock.now());
  }

  probeAfter(policy: string, patience: number): void {
    this.bucket(policy).probeAfter(patience, this.#clock.now());
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

  names(): Iterable<string> {
    return new Set([...specified.keys(), ...this.#buckets.keys()]);
  }

  /** Removes the oldest policy without requests in flight when there are too many: a service can always name new ones. */
  #forgetOne(): void {
    if (this.#buckets.size < memory) return;
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
