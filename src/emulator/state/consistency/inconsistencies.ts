import type { Issue } from "../../../errors/validation.ts";
import type { Endpoint } from "../../../http/endpoint.ts";
import type { SavedWorld } from "../saved-world.ts";
import type { Worlds } from "../worlds.ts";
import { checkCatalogList, checkFaults, checkLimits } from "./catalog.ts";
import { checkClaims, checkEvidence, checkRenders } from "./claims.ts";
import { checkCounters } from "./counters.ts";
import { Findings } from "./findings.ts";
import { checkAddresses, checkOrders, checkShipments } from "./orders.ts";
import { CheckedOrganization } from "./organization.ts";
import { checkPending } from "./pending.ts";
import { checkUniqueness } from "./uniqueness.ts";

/**
 * What is wrong with a saved world whose form is right: references to what does not exist, numbers that contradict each other, and
 * counters that would repeat references. `made` is the same world, made but not yet in use.
 */
export function inconsistencies(
  saved: SavedWorld,
  { worlds, catalog, make }: Worlds,
  endpoints: readonly Endpoint[],
): readonly Issue[] {
  const findings = new Findings();
  checkUniqueness(saved, worlds, findings);
  checkCatalogList("products", saved.products, catalog.products.all(), findings);
  checkCatalogList("items", saved.items, catalog.items.all(), findings);
  for (const [position, world] of worlds.entries()) {
    const organization = saved.organizations[position];
    if (organization === undefined) continue;
    const checked = new CheckedOrganization(organization, world, position, findings);
    checkOrders(checked);
    checkShipments(checked);
    checkAddresses(checked);
    checkClaims(checked);
    checkEvidence(checked);
    checkRenders(checked);
    checkLimits(checked, endpoints);
  }
  checkPending(saved, worlds, findings);
  checkCounters(saved, make, findings);
  checkFaults(saved, endpoints, findings);
  return findings.issues;
}
