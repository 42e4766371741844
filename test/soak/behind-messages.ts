import type { ItemIssuesInput } from "../../src/index.ts";
import type { Address } from "./messages.ts";

/** How slow the service is. */
export interface Slowness {
  /** Milliseconds after which the gateway gives up: 5 % of all requests take longer. */
  readonly gatewayTimeout: number;
  /** Milliseconds that the slowest of them take. */
  readonly slowest: number;
}

export interface ServiceJob extends Slowness {
  /** Shipments that can be claimed. */
  readonly claims: number;
}

/** Where the service is, and what can be claimed there. */
export interface LateService extends Address {
  readonly claims: readonly ItemIssuesInput[];
}

/** What the service has made, each by the name of what was asked for, as often as it was made. */
export interface Made {
  readonly orders: readonly string[];
  readonly claims: readonly string[];
}

export interface ClientJob extends LateService {
  readonly orders: number;
  readonly concurrency: number;
}

/** One step of a call. */
interface Step {
  readonly step: string;
  readonly at: number;
  readonly took: number;
  readonly outcome: string;
}

/** What became of one order or claim. */
export interface Told {
  readonly name: string;
  /** The error's name; undefined where it went well. */
  readonly failure: string | undefined;
  readonly recovered: boolean;
  readonly timeline: readonly Step[];
}
