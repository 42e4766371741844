import * as z from "zod/mini";
import type { Issue } from "../../errors/validation.ts";
import type { Endpoint, Policy } from "../../http/endpoint.ts";
import type { Reference, StoreReference } from "../../references/references.ts";
import { count, filledText, strict } from "../../schemas/shape.ts";
import { unknownPattern } from "../base/endpoint-names.ts";
import type { Limit } from "../base/rate-limit.ts";
import type { ReferenceMaker } from "../base/reference-maker.ts";
import { RecordTable } from "../base/table.ts";
import { callbackUrl } from "../work/callback.ts";

/** A secret key of an organization. */
export interface KeyOptions {
  /** What requests carry in `X-Service-Secret-Key`. No two keys of an emulator are equal. */
  readonly secretKey: string;
  /**
   * The calls that the key may make: names such as `orders.get`, and groups such as `orders.*`. The others get a 403. Default: all calls.
   * The specification does not show the rules behind 403 (5, rule 7).
   */
  readonly permissions?: readonly string[] | undefined;
  /** Whether requests with the key get a 401. Default false. `updateKey` changes it. */
  readonly revoked?: boolean | undefined;
  /** The code of the integrator that uses the key: `via_store_code` in the callbacks of its orders (specification 6). Default: none. */
  readonly integrator?: string | undefined;
}

/** A store of an organization. */
export interface StoreOptions {
  readonly name: string;
  /** The v1 code: legacy order codes begin with it. No two stores of an emulator have the same code. */
  readonly legacyCode: string;
  /** Default `api`. The API refuses orders for a store with another integration. */
  readonly integration?: string | undefined;
  /** The URL that the order-updated callbacks of the store go to. Default: that of the option `callbackUrl`. */
  readonly callbackUrl?: string | undefined;
}

/** An organization beside the demo organization. It sees the shared catalog, and none of another organization's records. */
export interface OrganizationOptions {
  readonly name: string;
  /** At least one. All keys of an organization share its rate limits and its rendertokens. */
  readonly keys: readonly KeyOptions[];
  /** Default: none. */
  readonly stores?: readonly StoreOptions[] | undefined;
  /** Quota and window (milliseconds) of each policy's bucket. Default: those of the option `limits`. */
  readonly limits?: Partial<Readonly<Record<Policy, Limit>>> | undefined;
  /** Rendertokens per week. Default: those of the option `rendertokenLimit`. */
  readonly rendertokenLimit?: number | undefined;
}

/** Any number of entries. Zod's own type is a mutable array. */
const list = <Entry>(entry: z.ZodMiniType<Entry>) => z.array(entry) as z.ZodMiniType<readonly Entry[]>;

/** Checks the keys of an organization. */
export const keyOptions = () =>
  list(
    strict<KeyOptions>({
      secretKey: filledText(),
      permissions: z.optional(list(filledText())),
      revoked: z.optional(z.boolean()),
      integrator: z.optional(filledText()),
    }),
  );

const storeOptions = () =>
  list(
    strict<StoreOptions>({
      name: filledText(),
      legacyCode: filledText(),
      integration: z.optional(filledText()),
      callbackUrl: z.optional(callbackUrl()),
    }),
  );

/** Checks the organizations beside the demo organization. `limits` checks an organization's limits. */
export const organizationOptions = (limits: z.ZodMiniType<OrganizationOptions["limits"]>) =>
  list(
    strict<OrganizationOptions>({
      name: filledText(),
      keys: keyOptions().check(
        z.refine((keys) => keys.length > 0, { error: "an organization needs at least one key" }),
      ),
      stores: z.optional(storeOptions()),
      limits: z.optional(limits),
      rendertokenLimit: z.optional(count(0)),
    }),
  );

/** A store of a world. */
export interface StoredStore {
  readonly reference: StoreReference;
  readonly name: string;
  readonly legacyCode: string;
  readonly account: string;
  readonly brand: string;
  /** Free-form. The API accepts orders only when it is `api`. */
  integration: string;
  /** The URL that callbacks go to; null when the store gets none (specification 6). */
  callbackUrl: string | null;
}

/** The demo organization's stores. */
export const storeTable = {
  api: { name: "Demo webshop", legacyCode: "DEMO", account: "europe", brand: "demo", integration: "api" },
  wholesale: { name: "Demo wholesale", legacyCode: "WHOLE", account: "world", brand: "studio", integration: "api" },
  shopify: { name: "Demo on Shopify", legacyCode: "SHOPD", account: "europe", brand: "demo", integration: "shopify" },
} as const;

/** The name of the demo organization. */
export const demoName = "Demo Prints";

const accountTable = { europe: "Demo Prints Europe", world: "Demo Prints World" };
const brandTable = { demo: "Demo Prints", studio: "Studio Demo" };
const packagingTable = { mailbox: "Mailbox parcel", giftbox: "Gift box" };

/** A secret key of an organization. */
export interface StoredKey {
  readonly reference: Reference<"Key">;
  readonly secretKey: string;
  /** The calls that the key may make; null when it may make all. */
  permissions: readonly string[] | null;
  revoked: boolean;
  /** The integrator that uses the key. */
  readonly integrator: string | null;
}

/** What an organization is made of: from the options, or from a saved world. */
export interface OrganizationPlan {
  readonly name: string;
  readonly keys: readonly KeyOptions[];
  readonly stores: readonly StoreOptions[];
  readonly limits: Readonly<Record<Policy, Limit>>;
  readonly rendertokenLimit: number;
  /** The URL that the callbacks of its stores go to; null for none. */
  readonly callbackUrl: string | null;
}

/** An organization with its keys, accounts, stores, brands and packagings. */
export type OrganizationState = ReturnType<typeof createOrganization>;

const createKey = (make: ReferenceMaker, { secretKey, permissions, revoked, integrator }: KeyOptions): StoredKey => ({
  reference: make.named("Key", secretKey),
  secretKey,
  permissions: permissions ?? null,
  revoked: revoked ?? false,
  integrator: integrator ?? null,
});

/** The account and the brand of a store that names none. */
const main = { account: "main", brand: "main" };
type StoreTemplate = StoreOptions & typeof main;

/** Makes an organization. The name of the demo organization gives the demo accounts, stores and brands. */
export function createOrganization(make: ReferenceMaker, environment: string, plan: OrganizationPlan) {
  const { name, limits, rendertokenLimit, callbackUrl } = plan;
  const isDemo = name === demoName;
  const stores = new RecordTable<StoredStore>();
  const described = plan.stores.map((store) => [`${name}/${store.legacyCode}`, { ...main, ...store }] as const);
  const table: readonly (readonly [string, StoreTemplate])[] = isDemo ? Object.entries(storeTable) : described;
  for (const [key, store] of table) {
    const { integration = "api", callbackUrl: own = callbackUrl } = store;
    stores.add({ ...store, reference: make.named("Store", key), integration, callbackUrl: own });
  }
  const keys = new RecordTable<StoredKey>();
  for (const key of plan.keys) keys.add(createKey(make, key));

  const records = <Kind extends "Account" | "Brand">(kind: Kind, table: Readonly<Record<string, string>>) =>
    Object.entries(isDemo ? table : { [`${name}/main`]: name }).map(([key, label]) => ({
      reference: make.named(kind, key),
      name: label,
    }));
  return {
    keys,
    organization: { name, environment },
    limits,
    rendertokenLimit,
    accounts: records("Account", accountTable),
    brands: records("Brand", brandTable),
    packagings: Object.entries(packagingTable).map(([key, label]) => ({
      reference: make.named("Packaging", key),
      name: label,
    })),
    stores,
  };
}

/** The text that occurs more than once. */
const repeated = (texts: readonly string[]): string | undefined =>
  texts.find((text, position) => texts.indexOf(text) !== position);

/** What is wrong with the organizations together: names, keys and store codes that occur twice, and permissions that name no call. */
export function organizationIssues(
  plans: readonly OrganizationPlan[],
  endpoints: readonly Endpoint[],
): readonly Issue[] {
  const path = ["organizations"];
  const keys = plans.flatMap((plan) => plan.keys);
  const name = repeated(plans.map((plan) => plan.name));
  const demoCodes = Object.values(storeTable).map(({ legacyCode }) => legacyCode);
  const code = repeated([...demoCodes, ...plans.flatMap(({ stores }) => stores.map(({ legacyCode }) => legacyCode))]);
  const call = unknownPattern(
    keys.flatMap(({ permissions }) => permissions ?? []),
    endpoints,
  );
  return [
    ...(name === undefined ? [] : [{ path, message: `two organizations have the name ${name}` }]),
    // The message does not show the key.
    ...(repeated(keys.map(({ secretKey }) => secretKey)) === undefined
      ? []
      : [{ path, message: "two keys are equal" }]),
    ...(code === undefined ? [] : [{ path, message: `two stores have the legacyCode ${code}` }]),
    ...(call === undefined ? [] : [{ path, message: `a permission names the unknown call ${call}` }]),
  ];
}
