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

/** The header that tells the service which run of the client sends a request. */
export const runHeader = "x-soak-run";

/** A creation that the service read. The times are in milliseconds since 1970. */
export interface Creation {
  readonly pair: string;
  readonly run: number;
  readonly read: number;
  answered?: number;
  status?: number;
}

/** The end of a killed client. */
export interface Death {
  readonly run: number;
  /** When its process had ended, in milliseconds since 1970. */
  readonly at: number;
  /** The pairs whose render was in the storage. */
  readonly stored: readonly string[];
}

/** What the service counted. */
export interface Count {
  readonly creations: number;
  readonly pairs: number;
  /** Creations of a pair again although its killed client had stored the render, or was not killed. */
  readonly unexplained: number;
  /** All creations of the pairs that were created more than once. */
  readonly repeated: readonly Creation[];
  readonly requests: number;
}

/** The work of a client process. */
export interface Job extends Address {
  readonly run: number;
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
