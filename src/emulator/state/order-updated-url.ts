import type { StoredOrder } from "../work/records.ts";
import type { World } from "./world.ts";

/** The parameters of an order's callback. `aliases` adds the deprecated names (specification 6). */
function parametersOf(world: World, order: StoredOrder, storeCode: string, aliases: boolean): Map<string, string> {
  const { customIdentifier, viaStoreCode } = order;
  const given: readonly (readonly [name: string, value: string | undefined, alias?: string])[] = [
    ["environment", world.organization.environment === "production" ? "prod" : "test"],
    ["order_reference", order.legacyOrderCode],
    ["order_reference_v2", order.reference],
    ["store_code", storeCode, "partner_code"],
    ["custom_reference", customIdentifier, "partner_reference"],
    ["via_store_code", viaStoreCode, "via_partner_code"],
  ];
  const parameters = new Map<string, string>();
  for (const [name, value, alias] of given) {
    if (value === undefined) continue;
    parameters.set(name, value);
    if (aliases && alias !== undefined) parameters.set(alias, value);
  }
  return parameters;
}

const nameOf = (pair: string): string | undefined => new URLSearchParams(pair).keys().next().value;

/**
 * The URL of an order's callback. The parameters of the configured URL are kept, character by character, but the service's value wins
 * (specification 6, rule 3). Returns undefined when the store has no callback URL.
 */
export function orderUpdatedUrl(world: World, order: StoredOrder, aliases: boolean): string | undefined {
  const store = world.stores.get(order.storeReference);
  if (!store?.callbackUrl) return undefined;
  const url = new URL(store.callbackUrl);
  const parameters = parametersOf(world, order, store.legacyCode, aliases);
  const kept = url.search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "" && !parameters.has(nameOf(pair) ?? ""));
  const added = Array.from(parameters, ([name, value]) => `${name}=${encodeURIComponent(value)}`);
  url.search = [...kept, ...added].join("&");
  url.hash = "";
  return url.href;
}
