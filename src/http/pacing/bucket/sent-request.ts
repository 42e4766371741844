/** What a bucket keeps of a request that took a token, until its response arrives. */
export interface SentRequest {
  readonly sentAt: number;
  /** The level right after the request took its token, minus the tokens that other clients are known to have taken since. */
  level: number;
  /** The number of requests sent by then, this one included. */
  readonly sent: number;
  /** The number of responses received by then. */
  readonly responses: number;
  /** The number of later requests whose responses came earlier: the service probably counted them first. */
  overtaken: number;
}

/**
 * The maximum number of later requests that the service may have counted before this one, whose response has arrived: those that already
 * have a response, and those sent long enough ago. A request takes at least half of the shortest round trip to reach the service.
 *
 * It also counts this request as one that has overtaken the earlier requests in flight.
 */
export function overtake(
  request: SentRequest,
  inFlight: ReadonlySet<SentRequest>,
  roundTrip: number,
  now: number,
): number {
  let earlier = request.overtaken;
  for (const other of inFlight) {
    if (other.sent < request.sent) other.overtaken += 1;
    else if (other.sentAt > now - roundTrip / 2) break;
    else if (other !== request) earlier += 1;
  }
  return earlier;
}
