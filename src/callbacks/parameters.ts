import * as z from "zod/mini";
import type { OrderReference } from "../references/references.ts";
import { check } from "../schemas/check.ts";
import { reference } from "../schemas/shape.ts";
import { CallbackValidationError } from "./errors.ts";

/** The environment that a callback comes from (specification 6). */
export type CallbackEnvironment = "prod" | "test";

/**
 * What an order-updated callback says (specification 6). It is not signed, so it is a claim of the caller: fetch the order to learn what
 * is true.
 */
export interface OrderUpdatedParameters {
  readonly environment: CallbackEnvironment;
  readonly orderReference: OrderReference;
  /** The v1-style reference, `<store_code>-<number>`. */
  readonly legacyOrderCode: string | undefined;
  /** Your own identifier of the order; undefined if it has none. */
  readonly customIdentifier: string | undefined;
  /** The code of the store. */
  readonly storeCode: string;
  /** The code of the integrator; undefined if the order did not come through one. */
  readonly viaStoreCode: string | undefined;
}

/** Node's own limit for the head of a request. Other servers allow more. */
const maxUrlLength = 16_384;

export const isTooLong = (url: string | URL): boolean => String(url).length > maxUrlLength;

/** The schema of the option `environment`, and of the parameter. */
export const environment = () => z.enum(["prod", "test"]);

const schema = () =>
  z.object({
    environment: environment(),
    order_reference_v2: reference("Order"),
    order_reference: z.optional(z.string()),
    store_code: z.string(),
    custom_reference: z.optional(z.string()),
    via_store_code: z.optional(z.string()),
  });

/** Each parameter with its deprecated alias. */
const aliases = {
  environment: undefined,
  order_reference_v2: undefined,
  order_reference: undefined,
  store_code: "partner_code",
  custom_reference: "partner_reference",
  via_store_code: "via_partner_code",
} as const satisfies Record<string, string | undefined>;

/** The query of a URL or of a request target. It needs no host, and never throws. */
export function queryOf(url: string | URL | undefined): URLSearchParams {
  const [, query = ""] = /\?([^#]*)/.exec(String(url)) ?? [];
  return new URLSearchParams(query);
}

/** The last value of a parameter: the service's value wins over one of the configured URL. An empty value counts as absent. */
export const lastOf = (query: URLSearchParams, name: string): string | undefined =>
  query.getAll(name).at(-1) || undefined;

/**
 * Reads the parameters of an order-updated callback from its URL (specification 6), for a program that routes callbacks itself. Other
 * parameters are ignored. The deprecated names `partner_reference`, `partner_code` and `via_partner_code` are read only when none of the
 * new ones is there: otherwise they may be parameters of your own URL.
 *
 * @param url The URL of the request, or its path with the query, as `request.url` of Node has it.
 * @throws {@link CallbackValidationError} if a parameter is missing or invalid.
 * @example
 * const { orderReference } = parseOrderUpdated(url);
 */
export function parseOrderUpdated(url: string | URL): OrderUpdatedParameters {
  if (isTooLong(url)) {
    throw new CallbackValidationError({
      issues: [{ path: [], message: `the URL is longer than ${maxUrlLength} characters` }],
    });
  }
  const query = queryOf(url);
  const named = Object.entries(aliases);
  // The service always sends `store_code`. Next to a new name, an old one may be a parameter of the partner's own URL.
  const isOld = named.every(([name, alias]) => alias === undefined || lastOf(query, name) === undefined);
  const given = Object.fromEntries(named.map(([name, alias]) => [name, lastOf(query, isOld && alias ? alias : name)]));
  const checked = check(schema, given, []);
  if (!checked.ok) throw new CallbackValidationError({ issues: checked.issues });
  const value = checked.value as z.infer<ReturnType<typeof schema>>;
  return {
    environment: value.environment,
    orderReference: value.order_reference_v2,
    legacyOrderCode: value.order_reference,
    customIdentifier: value.custom_reference,
    storeCode: value.store_code,
    viaStoreCode: value.via_store_code,
  };
}
