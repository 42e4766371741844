import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import { ConfigurationError, type Issue } from "../../errors/validation.ts";
import type { Policy } from "../../http/endpoint.ts";
import type { Assumptions, MeasuredAssumptions } from "../../schemas/assumptions.ts";
import { checkedConfiguration, unknownOption } from "../../schemas/check.ts";
import { baseUrl, clock, count, filledText, type Schema } from "../../schemas/shape.ts";
import { type PartnerClock, reliable, systemClock } from "../../util/clock.ts";
import { type Overrides, withFields, withOverrides } from "../../util/fields.ts";
import { propertyOf } from "../../util/foreign.ts";
import { defaultLimits, type Limit, limits } from "../base/rate-limit.ts";
import { defaultKey, keyFault, remoteFault } from "../base/real-service.ts";
import { type PagedList, type PageSizes, pageSize, pageSizesOf } from "../base/table.ts";
import {
  demoName,
  type KeyOptions,
  keyOptions,
  type OrganizationOptions,
  type OrganizationPlan,
  organizationOptions,
} from "../catalog/organization.ts";
import { SkippingClock } from "../clock/skipping-clock.ts";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { defaultBounds, type LogBounds, logBounds } from "../recorder/request-log.ts";
import { type AutomationOptions, automationFields } from "../work/automation.ts";
import {
  type CallbackOptions,
  type CallbackSettings,
  callbackOptions,
  callbackUrl,
  defaultCallbacks,
} from "../work/callback.ts";
import { assumedBy, type EmulatorAssumptions } from "./assumed.ts";
import { type SeedRecords, seedRecords } from "./seed.ts";

/** The options that have URLs or keys. */
interface Given {
  readonly baseUrl: string;
  readonly callbackUrl?: string | undefined;
  readonly secretKey: string;
  readonly keys: OrganizationPlan["keys"];
  readonly organizations: readonly Pick<OrganizationPlan, "name" | "keys" | "stores">[];
}

/** The issue of a value, if it looks like one of the real service. */
const issueOf = (path: Issue["path"], value: string | undefined, faultOf: (value: string) => string | undefined) => {
  const message = value === undefined ? undefined : faultOf(value);
  return message === undefined ? [] : [{ path, message }];
};

/** Throws a {@link ConfigurationError} for URLs and keys in the options that look like ones of the real service. */
function refuseReal({ baseUrl, callbackUrl, secretKey, keys, organizations }: Given): void {
  const issues = [
    ...issueOf(["baseUrl"], baseUrl, remoteFault),
    ...issueOf(["callbackUrl"], callbackUrl, remoteFault),
    ...issueOf(["secretKey"], secretKey, keyFault),
    ...keys.flatMap((key, position) => issueOf(["keys", position, "secretKey"], key.secretKey, keyFault)),
    ...organizations.flatMap(({ name, keys: own, stores }) => [
      ...own.flatMap((key, position) => issueOf(["organizations", name, "keys", position], key.secretKey, keyFault)),
      ...stores.flatMap(({ legacyCode, callbackUrl: url }) =>
        issueOf(["organizations", name, legacyCode, "callbackUrl"], url, remoteFault),
      ),
    ]),
  ];
  if (issues.length > 0) throw new ConfigurationError({ issues }, "emulator");
}

/** What the service does when an order with the same `customIdentifier` exists. The specification does not show it. */
export type RepeatedIdentifier = "return-first" | "refuse" | "create";

/** How many fields the responses have: all that the emulator models, or only those that the specification promises. */
export type Shapes = "full" | "minimal";

/** The options of an emulator. All are optional. */
export interface EmulatorOptions {
  /** The key that requests must carry in `X-Service-Secret-Key`. Default `emulator-secret-key`. */
  readonly secretKey?: string;
  /** The base URL, ending in `/v2`. URLs in responses begin with it. Default `http://emulator.test/v2`. */
  readonly baseUrl?: string;
  /**
   * References differ between the environments, and callbacks name theirs. In `test`, the service produces and ships no order
   * (specification 1). The emulator does, so that a test can see a shipment. Default `test`.
   */
  readonly environment?: "test" | "production";
  /**
   * The source of time, for example `createManualClock()`. With `skip`, the time jumps to the next event whenever a client that has
   * `clientOptions` only waits: it begins at 2026-11-02T09:00:00Z, and stands still otherwise. Not for `startEmulator`. Default: the
   * machine's time.
   *
   * @example
   * const emulator = createEmulator({ clock: "skip" });
   */
  readonly clock?: PartnerClock | "skip";
  /** What exists at the start, besides the demo catalog. */
  readonly seed?: {
    /**
     * The number that all references derive from: they are the same each time, and other numbers give others. Default: new references
     * for each emulator, because references are globally unique (specification 2.1).
     */
    readonly number?: number;
  } & SeedRecords;
  /** Items on a page: a number for all paginated lists, or one for each, such as `{ orders: 20, products: 100 }`. Default 50. */
  readonly pageSize?: number | { readonly [List in PagedList]?: number };
  /** Quota and window (milliseconds) of each policy's bucket. Default: those of the specification's part 8. */
  readonly limits?: Partial<Readonly<Record<Policy, Limit>>>;
  /** Rendertokens per week. Default 1000. */
  readonly rendertokenLimit?: number;
  /** How long a render stays pending, in milliseconds. Default 3000. */
  readonly renderDuration?: number;
  /** Further keys of the demo organization. They share its rate limits. */
  readonly keys?: readonly KeyOptions[];
  /** Organizations beside the demo organization. An organization never sees the records of another one. Default: none. */
  readonly organizations?: readonly OrganizationOptions[];
  /**
   * Calls that respond with 501, as endpoints do that are "not publicly available yet" (specification 7, rule 2): names such as
   * `orders.quote` or `POST /quote`, and groups such as `renders.*`. Default: none.
   */
  readonly unavailable?: readonly string[];
  /**
   * What creating an order does when another order has its `customIdentifier`: `return-first` returns the reference of the first
   * order, `refuse` responds with 409 `custom_identifier_taken`, `create` makes a new order, the worst case for a client. Default
   * `return-first`, because an identifier is there "so that a retried request cannot create a duplicate" (specification 2.4).
   */
  readonly repeatedIdentifier?: RepeatedIdentifier;
  /**
   * Which fields responses have. `minimal` leaves out, or sets to null, every field that the specification does not promise: entries whose
   * shape is "not shown" have only their `reference`, the status of an order is an empty object, an announced product lacks what may be
   * incomplete. Use it to find what your integration takes for granted. Default `full`.
   */
  readonly shapes?: Shapes;
  /** The bounds of `emulator.requests`. The oldest requests are removed first. */
  readonly requestLog?: {
    /** The most requests, at most 10,000. Default 5,000. */
    readonly entries?: number;
    /** The most memory that their headers and bodies use, in bytes. Default 67,108,864 (64 MiB). */
    readonly bytes?: number;
  };
  /**
   * The URL that the order-updated callbacks of every store go to, with your own parameters (specification 6). The emulator sends
   * requests to it. Default: none. `setCallbackUrl` changes it for a store.
   */
  readonly callbackUrl?: string;
  /** How callbacks are sent. */
  readonly callbacks?: CallbackOptions;
  /**
   * Whether a URL may name a public host, and a key may look real. Default false: a URL must be of this machine or a private network, have
   * a host name without a dot, or end in `.test`, `.example`, `.localhost`, `.invalid`, `.local` or `.internal`, and not be of a host where
   * clouds serve credentials, such as `169.254.169.254` or `metadata.google.internal`. A key must not have the word `live` or `prod`, and
   * not be the one that the environment has for a public host.
   */
  readonly allowRemote?: boolean;
  /**
   * What is assumed where the specification is silent: some assumptions, the content of the file that `npx pod-partner conform` wrote, or
   * its path. The other options win over the file. Environment: `POD_PARTNER_ASSUMPTIONS`, a path.
   */
  readonly assumptions?: Overrides<EmulatorAssumptions> | MeasuredAssumptions | string | undefined;
  /** What the operator does by itself. Default: nothing, so that orders and claims move only by controls. `automate` changes it. */
  readonly automation?: AutomationOptions;
}

/** The options with their defaults. */
export interface Settings {
  readonly secretKey: string;
  readonly baseUrl: string;
  readonly environment: "test" | "production";
  readonly clock: PartnerClock;
  /** The text that all references derive from. */
  readonly seed: string;
  readonly records: SeedRecords;
  readonly pageSizes: PageSizes;
  /** The demo organization first. */
  readonly organizations: readonly [OrganizationPlan, ...OrganizationPlan[]];
  readonly unavailable: readonly string[];
  readonly renderDuration: number;
  readonly repeatedIdentifier: RepeatedIdentifier;
  readonly shapes: Shapes;
  readonly requestLog: LogBounds;
  readonly callbackUrl?: string;
  readonly callbacks: CallbackSettings;
  readonly allowRemote: boolean;
  readonly automation: AutomationOptions;
  readonly assumptions: EmulatorAssumptions;
  /** What a client of the emulator must assume. */
  readonly clientAssumptions: Overrides<Assumptions>;
}

/** An option with its default. Its schema is built when it is given: to build them all takes most of the time of a start. */
const option = <Value>(schema: Schema, missing: Value) => z._default(z.lazy(schema), missing);

/** A clock that never throws. Its timers stay as they are: they do not keep the process alive. */
const withReliableTime = (given: PartnerClock): PartnerClock => ({
  ...reliable(given),
  after: (ms, callback) => given.after(ms, callback),
});

const clockOption = () =>
  z.pipe(
    z.union([z.literal("skip"), clock()], 'expected a clock with the functions `now` and `after`, or "skip"'),
    z.transform((given) => {
      if (given === "skip") return new SkippingClock();
      return given instanceof VirtualClock ? given : withReliableTime(given);
    }),
  );

const schema = () =>
  z.strictObject({
    secretKey: option(filledText, defaultKey),
    baseUrl: option(baseUrl, "http://emulator.test/v2"),
    environment: option(() => z.enum(["test", "production"]), "test"),
    clock: option(clockOption, systemClock),
    seed: option(() => z.strictObject({ number: z.optional(count(0)), ...seedRecords() }), {}),
    pageSize: option(pageSize, {}),
    limits: option(limits, defaultLimits),
    rendertokenLimit: option(() => count(0), 1000),
    renderDuration: option(() => z.number().check(z.gte(0)), 3000),
    keys: option(keyOptions, []),
    organizations: option(() => organizationOptions(limits()), []),
    unavailable: option(() => z.array(filledText()), []),
    repeatedIdentifier: option(() => z.enum(["return-first", "refuse", "create"]), "return-first"),
    shapes: option(() => z.enum(["full", "minimal"]), "full"),
    requestLog: option(logBounds, defaultBounds),
    callbackUrl: option(callbackUrl, undefined),
    callbacks: option(callbackOptions, defaultCallbacks),
    allowRemote: option(() => z.boolean(), false),
    automation: option(() => z.strictObject(automationFields()), {}),
    // Read and checked before the others.
    assumptions: z.optional(z.unknown()),
  });

const ofSeed = ["number", "products", "orders", "images", "evidence"];
const unknown = unknownOption(Object.fromEntries(ofSeed.map((name) => [name, `seed.${name}`])));

/**
 * Checks the options and fills in the defaults.
 *
 * @throws {@link ConfigurationError} when an option is invalid or unknown, or looks like one of a real service.
 */
export function toSettings(options: EmulatorOptions): Settings {
  const assumed = assumedBy(propertyOf(options, "assumptions"));
  const given = withFields(options, (fields) => withOverrides<EmulatorOptions>(assumed.options, fields));
  const checked = checkedConfiguration(schema, given, "emulator", unknown);
  const {
    seed,
    keys,
    organizations,
    limits,
    rendertokenLimit,
    pageSize: sizes,
    ...settings
  } = checked as CheckedOptions;
  const { number, ...records } = seed;
  const common = { limits, rendertokenLimit, callbackUrl: settings.callbackUrl ?? null };
  const demo = { ...common, name: demoName, keys: [{ secretKey: settings.secretKey }, ...keys], stores: [] };
  const plans = organizations.map((organization) => planOf(organization, common));
  if (!settings.allowRemote) refuseReal({ ...settings, keys, organizations: plans });
  return {
    ...settings,
    assumptions: assumed.assumptions,
    clientAssumptions: assumed.ofClient,
    organizations: [demo, ...plans],
    seed: String(number ?? randomUUID()),
    records,
    pageSizes: pageSizesOf(sizes),
  };
}

/** The options with their defaults, before they are settings. */
interface CheckedOptions
  extends Omit<Settings, "seed" | "records" | "organizations" | "assumptions" | "clientAssumptions" | "pageSizes"> {
  readonly pageSize: NonNullable<EmulatorOptions["pageSize"]>;
  readonly seed: { readonly number?: number } & SeedRecords;
  readonly keys: readonly KeyOptions[];
  readonly organizations: readonly OrganizationOptions[];
  readonly limits: OrganizationPlan["limits"];
  readonly rendertokenLimit: number;
}

/** An organization with its defaults. */
const planOf = (
  { name, keys, stores, limits, rendertokenLimit }: OrganizationOptions,
  common: Pick<OrganizationPlan, "limits" | "rendertokenLimit" | "callbackUrl">,
): OrganizationPlan => ({
  name,
  keys,
  stores: stores ?? [],
  limits: { ...common.limits, ...limits },
  rendertokenLimit: rendertokenLimit ?? common.rendertokenLimit,
  callbackUrl: common.callbackUrl,
});
