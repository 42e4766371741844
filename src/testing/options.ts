import type { Policy } from "../http/endpoint.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { defaultLimits, type Limit } from "./rate-limit.ts";

/** What the service does with a `customIdentifier` that an order already has: the specification does not show it. */
export type RepeatedIdentifier = "create" | "return-first" | "refuse";

/** How an emulator is set up. Every option may be left out. */
export interface EmulatorOptions {
  /** The key that requests must carry in `X-Service-Secret-Key`. Default `emulator-secret-key`. */
  readonly secretKey?: string;
  /** The base URL, ending in `/v2`, as it stands in the URLs of answers. Default `http://emulator.test/v2`. */
  readonly baseUrl?: string;
  /** References of the two environments differ. Default `test`. */
  readonly environment?: "test" | "production";
  /** Its source of time: `createManualClock()` makes it stand still. Default: the machine's time. */
  readonly clock?: Clock;
  /** What is there from the start, beside the demo catalog. */
  readonly seed?: {
    /** How many dropship orders. Default 0. */
    readonly orders?: number;
  };
  /** Items on a page of a paginated list. Default 50. */
  readonly pageSize?: number;
  /** Quota `q` and window `w` (seconds) by policy, over those of the specification's part 8. */
  readonly limits?: Partial<Readonly<Record<Policy, Limit>>>;
  /** Rendertokens a week. Default 1000. */
  readonly rendertokenLimit?: number;
  /** How long a render stays pending, in milliseconds. Default 3000. */
  readonly renderDuration?: number;
  /**
   * What happens to an order whose `customIdentifier` another order has: a new order (`create`), the first one's
   * reference (`return-first`), or 409 `custom_identifier_taken` (`refuse`). Default `create`, the worst case for a client.
   */
  readonly repeatedIdentifier?: RepeatedIdentifier;
}

/** The options with every default filled in. */
export interface Settings {
  readonly secretKey: string;
  readonly baseUrl: string;
  readonly environment: "test" | "production";
  readonly clock: Clock;
  readonly orders: number;
  readonly pageSize: number;
  readonly limits: Readonly<Record<Policy, Limit>>;
  readonly rendertokenLimit: number;
  readonly renderDuration: number;
  readonly repeatedIdentifier: RepeatedIdentifier;
}

const atLeast = (minimum: number, name: string, value: number): number => {
  if (Number.isFinite(value) && value >= minimum) return value;
  throw new RangeError(`The emulator's option ${name} must be at least ${minimum}; got ${value}`);
};

/** Fills in the defaults, and refuses what cannot work. */
export function toSettings(options: EmulatorOptions): Settings {
  const baseUrl = options.baseUrl ?? "http://emulator.test/v2";
  if (!new URL(baseUrl).pathname.endsWith("/v2")) {
    throw new TypeError(`The emulator's option baseUrl must end in /v2; got ${baseUrl}`);
  }
  return {
    secretKey: options.secretKey ?? "emulator-secret-key",
    baseUrl,
    environment: options.environment ?? "test",
    clock: options.clock ?? systemClock,
    orders: atLeast(0, "seed.orders", options.seed?.orders ?? 0),
    pageSize: atLeast(1, "pageSize", options.pageSize ?? 50),
    limits: { ...defaultLimits, ...options.limits },
    rendertokenLimit: atLeast(0, "rendertokenLimit", options.rendertokenLimit ?? 1000),
    renderDuration: atLeast(0, "renderDuration", options.renderDuration ?? 3000),
    repeatedIdentifier: options.repeatedIdentifier ?? "create",
  };
}
