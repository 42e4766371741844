/**
 * Why a call waits for its turn to be sent:
 *
 * - `bucket-empty`: no token remains in the policy's bucket, by the latest headers and the requests sent since.
 * - `rate-limited`: a 429 holds the policy until its `Retry-After`.
 * - `probe`: nothing is known of the bucket yet, or since a hold; the first response will show its level.
 * - `slow-start`: only some requests are in flight until more responses have come.
 * - `fair-share`: other clients use the bucket, too; this call waits for this client's next turn.
 * - `gateway-limit`: a gateway in front of the service refuses requests above a rate, and all calls are sent at that rate.
 * - `ceiling`: the client's own limit, `pacing.perSecond`.
 * - `fleet`: the tokens are fetched from the store that the fleet shares.
 * - `other-process`: another process with the same `storage`, or another call of this process, places the same order, files the same claim,
 *   uploads the same content or creates the same render. If the process has died, its lock ends by itself.
 * - `storage`: the `storage` cannot be reached, so it is not known whether another process has sent the request.
 */
export type PauseReason =
  | "bucket-empty"
  | "rate-limited"
  | "probe"
  | "slow-start"
  | "fair-share"
  | "gateway-limit"
  | "ceiling"
  | "fleet"
  | "other-process"
  | "storage";

/** What keeps a call from being sent now. */
export interface Wait {
  /** Milliseconds until it may be sent, or until that is checked again; infinite when a reply serves the queue again. */
  readonly ms: number;
  readonly reason: PauseReason;
  /** The rate-limit policy; `default` where the reason does not belong to a policy. */
  readonly policy: string;
}

/** The longer of two waits; undefined stands for no wait. */
export const longer = (one: Wait | undefined, other: Wait | undefined): Wait | undefined =>
  one === undefined || (other !== undefined && other.ms > one.ms) ? other : one;
