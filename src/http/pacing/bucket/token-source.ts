import type { PolicyReport, RateLimitReport } from "../headers.ts";
import type { SentRequest } from "./sent-request.ts";

/** What one request holds: a token of each bucket that it draws from. */
export interface Grant {
  readonly tickets: ReadonlyMap<string, SentRequest>;
}

/** What is known of one policy. */
export interface PolicyLevel {
  readonly quota: number;
  /** Milliseconds in which the quota refills. */
  readonly window: number;
  /** Tokens in the bucket. */
  readonly remaining: number;
  /** Milliseconds until the next token can be used; 0 when one can be now. */
  readonly nextTokenIn: number;
}

/** Where requests get their tokens: from this process's own pictures of the buckets, or from those that a fleet shares. */
export interface TokenSource {
  /**
   * Milliseconds until a request that draws from these policies may take its tokens; infinite when the source calls back by itself.
   *
   * @param wanted How many requests want some; with 0 it only tells.
   */
  wait(policies: readonly string[], wanted: number): number;
  /** Milliseconds from one token to the next in the bucket that is waited for; 0 when they come irregularly. */
  beat(policies: readonly string[]): number;
  /** Takes a token of each policy, there or not. */
  take(policies: readonly string[]): Grant;
  /** Learns from an answer's headers; gives the policies that they name where those are not just what the request drew from. */
  observe(grant: Grant, report: RateLimitReport): readonly string[] | undefined;
  /** Learns of a policy that a request has drawn from without holding a token of it. */
  meet(policy: string, report: RateLimitReport): void;
  /** What an answer tells of a policy, whatever the service calls it by now. */
  reportOf(policy: string, report: RateLimitReport): PolicyReport | undefined;
  /** The request ended without an answer. */
  forget(grant: Grant): void;
  /** The service refused a request for want of a token: nothing goes for `ms` milliseconds. */
  hold(policies: readonly string[], ms: number, said: number): void;
  /** Milliseconds until the next token comes, by a 429 or by the quota, whatever waits for it; 0 when it comes within a second. */
  away(policy: string): number;
  /** Nobody waits for the next token: where it is that far away, one request looks again after `patience` milliseconds. */
  doubt(policy: string, patience: number): void;
  level(policy: string): PolicyLevel;
  /** Milliseconds until so many tokens will have come, at the present rate. */
  until(policy: string, tokens: number): number;
  /** The policies that are known. */
  names(): Iterable<string>;
}
