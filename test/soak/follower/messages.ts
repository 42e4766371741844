import type { OrderChange } from "../../../src/callbacks/order-state.ts";
import type { StorePlace } from "../open-storage.ts";
import type { TransportKind } from "../transport.ts";

/** The message that starts a partner's process. A port of 0 is a free port. */
export interface WorkerJob {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly token: string;
  readonly port: number;
  /** The file that each hand-over is appended to. */
  readonly file: string;
  /** The part of the handlers that fail. */
  readonly failing: number;
  readonly seed: number;
  readonly storage: StorePlace;
  readonly transport: TransportKind;
}

/** A line of the file: a handler has begun, or has finished. */
export interface HandoverLine {
  readonly step: "begun" | "done";
  readonly reference: string;
  /** The shipped quantities and the reason of the hold, as JSON. */
  readonly state: string;
  readonly changes: readonly OrderChange[];
}

/** What a sweep has done. */
export interface Swept {
  readonly checked: number;
  readonly changed: number;
  readonly failed: number;
  readonly took: number;
}
