import type { CompositionParts, ImageReference } from "../../../src/index.ts";
import type { StorePlace } from "../open-storage.ts";
import type { TransportKind } from "../transport.ts";

/** The service, and what can be rendered. */
export interface Address {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly images: readonly ImageReference[];
  readonly combinations: readonly CompositionParts[];
}

/** The work of the service process. */
export interface Settings {
  readonly images: number;
  /** Tokens of a week. */
  readonly limit: number;
}

/** What the service counted. */
export interface Count {
  readonly creations: number;
  readonly pairs: number;
  /** Pairs that were created again although the first response was not lost by a kill. */
  readonly unexplained: number;
  readonly requests: number;
}

/** The work of a client process. */
export interface Job extends Address {
  readonly storage: StorePlace;
  readonly directory: string;
  /** Rows that repeat an earlier pair. */
  readonly doubles: number;
  readonly concurrency: number;
  readonly transport: TransportKind;
}

/** The end of a client's run. */
export interface Result {
  readonly reasons: Readonly<Record<string, number>>;
  readonly requests: number;
  /** Seconds of CPU. */
  readonly cpu: number;
  /** Megabytes at the first 1,000 outcomes, and at the most. */
  readonly early: number;
  readonly peak: number;
}
