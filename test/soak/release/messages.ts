import type { TransportKind } from "../transport.ts";

/** The worker's task: this many downloads, and this many calls that are aborted. */
export interface Job {
  readonly origin: string;
  readonly transport: TransportKind;
  readonly each: number;
}

/** The outcomes, and what is open in the process while no call is in progress. */
export interface Census {
  readonly downloads: number;
  readonly aborted: number;
  /** Calls with another outcome. */
  readonly others: number;
  /** Listeners on the signal that all downloads share, and on those of the aborted calls. */
  readonly listeners: number;
  readonly timers: number;
  readonly sockets: number;
}
