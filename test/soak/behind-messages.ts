import type { ItemIssuesInput } from "../../src/index.ts";
import type { Address } from "./messages.ts";
import type { TransportKind } from "./transport.ts";

/** The slowness of the service. */
export interface Slowness {
  /** Milliseconds after which the gateway times out: 5 % of all requests take longer. */
  readonly gatewayTimeout: number;
  /** Milliseconds of the slowest requests. */
  readonly slowest: number;
}

export interface ServiceJob extends Slowness {
  /** Shipments that can be claimed. */
  readonly claims: number;
}

/** The address of the service, and the shipments that can be claimed. */
export interface LateService extends Address {
  readonly claims: readonly ItemIssuesInput[];
}

/** The created orders and claims, each with its name and the number of times that it was created. */
export interface Made {
  readonly orders: readonly string[];
  readonly claims: readonly string[];
}

export interface ClientJob extends LateService {
  readonly orders: number;
  readonly concurrency: number;
  readonly transport: TransportKind;
}

/** One step of a call. */
interface Step {
  readonly step: string;
  readonly at: number;
  readonly took: number;
  readonly outcome: string;
}

/** The outcome of one order or claim. */
export interface CallReport {
  readonly name: string;
  /** The error's name; undefined after a success. */
  readonly failure: string | undefined;
  readonly recovered: boolean;
  readonly timeline: readonly Step[];
}
