import type { PartnerClock } from "../../util/clock.ts";
import type { Observe } from "../call/observer.ts";
import type { Buckets } from "./bucket/buckets.ts";
import type { TokenSource } from "./bucket/token-source.ts";

/** What a client brings along when it joins a fleet. */
export interface Member {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly clock: PartnerClock;
  readonly observe: Observe;
  /** The client's own pictures: kept up to date all the time, and used alone while the store cannot be reached. */
  readonly own: Buckets;
  /** Has the lines served again: tokens have come. */
  readonly wake: () => void;
}

/** Keeps objects of a program's own from being taken for a part of a store. It has no value. */
declare const opaque: unique symbol;

/** How a client joins a fleet: for the client alone, so that the published type shows no more than a name. */
export interface JoinFleet {
  readonly [opaque]?: never;
  /** @internal */
  (member: Member): TokenSource;
}

/** Holds the buckets that a fleet of processes shares. Only `redisPacing` of `pod-partner/redis` makes one. */
export interface PacingStore {
  /** What holds the buckets. */
  readonly kind: string;
  /** For the client: how it joins the fleet. */
  readonly join: JoinFleet;
}
