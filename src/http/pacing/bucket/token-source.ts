import type { Reserve } from "../ceiling.ts";
import type { PolicyReport, RateLimitReport } from "../headers.ts";
import type { Wait } from "../wait.ts";
import type { SentRequest } from "./sent-request.ts";

/** The tokens of one request: one of each bucket that it draws from. */
export interface Grant {
  /** The request as each bucket keeps it, by policy. */
  readonly requests: ReadonlyMap<string, SentRequest>;
}

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
  wait(policies: readonly string[], wanted: number): Wait | undefined;
  /** Takes a token of each policy, also from an empty bucket. */
  take(policies: readonly string[]): Grant;
  /** Learns from a response's headers. Returns the named policies if they differ from those that the request drew from. */
  observe(grant: Grant, report: RateLimitReport): readonly string[] | undefined;
  /** Learns about a policy that a request drew from without a token of it. */
  observeNew(policy: string, report: RateLimitReport): void;
  /** What a response reports about a policy, by the policy's present name. */
  reportOf(policy: string, report: RateLimitReport): PolicyReport | undefined;
  /** Removes a request that ended without a response. */
  forget(grant: Grant): void;
  /**
   * Holds the policies for `ms` milliseconds after the service refused a request for its rate limit.
   *
   * @param retryAfter Milliseconds that the response asks for; it can be longer than `ms`.
   */
  hold(policies: readonly string[], ms: number, retryAfter: number): void;
  /** Milliseconds until the next token comes, by a 429 or by the quota, without the queue; 0 when it comes within a second. */
  away(policy: string): number;
  /** Where the next token is further away than calls wait, lets one request check that after `patience` milliseconds. */
  probeAfter(policy: string, patience: number): void;
  level(policy: string): PolicyLevel;
  /** Milliseconds until this number of tokens has come, at the present rate. */
  until(policy: string, tokens: number): number;
  /** Reserves slots of the partner's own ceiling for the whole fleet. */
  readonly reserve?: Reserve;
  /** The policies that are known. */
  names(): Iterable<string>;
}
