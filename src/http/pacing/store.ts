import type { PartnerClock } from "../../util/clock.ts";
import type { Observe } from "../observer.ts";
import type { Buckets } from "./bucket/buckets.ts";
import type { TokenSource } from "./bucket/token-source.ts";

/** What a client passes to a store when it joins a fleet. */
export interface Member {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly clock: PartnerClock;
  readonly observe: Observe;
  /** The client's own buckets: always kept up to date, and used alone while the store cannot be reached. */
  readonly own: Buckets;
  /** Serves the queues again after tokens have come. */
  readonly wake: () => void;
}

/** Makes the type opaque: a program's own object is not a store. It has no value. */
declare const opaque: unique symbol;

/** How a client joins a fleet. Only the client calls it: the published type shows no more than a name. */
export interface JoinFleet {
  readonly [opaque]?: never;
  /** @internal */
  (member: Member): TokenSource;
}

/** Keeps the buckets that a fleet of processes shares. Only `redisPacing` of `pod-partner/redis` makes one. */
export interface PacingStore {
  /** Where the buckets are kept, for example `redis`. */
  readonly kind: string;
  /** Adds a client to the fleet. Only the client calls it. */
  readonly join: JoinFleet;
}
