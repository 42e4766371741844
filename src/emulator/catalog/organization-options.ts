import * as z from "zod/mini";
import type { Policy } from "../../http/endpoint.ts";
import { count, filledText, strict } from "../../schemas/shape.ts";
import { callbackUrl } from "../callbacks/options.ts";
import type { Limit } from "../core/rate-limit.ts";

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
