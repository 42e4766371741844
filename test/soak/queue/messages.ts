import type { Address } from "../messages.ts";
import type { StorePlace } from "../open-storage.ts";

/** How a worker calls `ensure`: with a storage, or as one must without. */
export const modes = ["storage", "storage, lookFirst: false", "no storage, lookFor"] as const;
export type Mode = (typeof modes)[number];

/** The work of a worker. */
export interface Job extends Address {
  /** The store with the queue, and the storage. */
  readonly place: StorePlace;
  readonly mode: Mode;
  /** Orders that it places at the same time. */
  readonly lanes: number;
  /** Milliseconds after which a job that was taken and not finished comes back. */
  readonly visibility: number;
}

/** What the service counted. */
export interface Count {
  readonly orders: number;
  /** Identifiers with at least one order. */
  readonly identifiers: number;
  readonly requests: number;
}
