import type { TransportKind } from "../transport.ts";

/** The worker's task. */
export interface Job {
  readonly baseUrl: string;
  readonly calls: number;
  readonly concurrency: number;
  readonly seed: number;
  readonly transport: TransportKind;
}

/** The results so far, and what is open in the process while no call is in progress. */
export interface Census {
  readonly calls: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly aborted: number;
  /** Failures with neither a typed error nor the abort's reason. */
  readonly untyped: number;
  /** Bytes after a full garbage collection. */
  readonly heap: number;
  readonly rss: number;
  /** Listeners on the signal that most calls share, and on those of single calls. */
  readonly listeners: number;
  /** Timers of the client that are set. */
  readonly timers: number;
  readonly sockets: number;
  readonly seconds: number;
}

/** A message of the worker. */
export type Report = { readonly census: Census } | { readonly errors: Readonly<Record<string, number>> };

/** The counts of the service. */
export interface Tally {
  readonly requests: number;
  readonly orders: number;
  readonly claims: number;
  /** Orders and claims that were created more than once. */
  readonly twice: number;
}
