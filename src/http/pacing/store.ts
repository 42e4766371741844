import type { PartnerClock } from "../../util/clock.ts";
import type { Observe } from "../observer.ts";
import type { Buckets } from "./buckets.ts";
import type { TokenSource } from "./tokens.ts";

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

/** Holds the buckets that a fleet of processes shares. `redisPacing` of `pod-partner/redis` makes one. */
export interface PacingStore {
  /** What holds the buckets. */
  readonly kind: string;
  /** @internal */
  join(member: Member): TokenSource;
}
