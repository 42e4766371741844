import type { Endpoint } from "../../../http/endpoint.ts";
import { unknownPattern } from "../../core/call-patterns.ts";
import { policies } from "../../core/rate-limit.ts";
import { faultIssue } from "../../faults/faults.ts";
import type { SavedWorld } from "../saved-world.ts";
import type { Findings } from "./findings.ts";
import type { CheckedOrganization } from "./organization.ts";

interface Listed {
  readonly reference: string;
}

/** Checks that a list has exactly the records of the catalog, which the seed of the world makes. */
export function checkCatalogList(
  name: "products" | "items",
  saved: readonly Listed[],
  catalog: readonly Listed[],
  findings: Findings,
): void {
  const given = new Set<string>();
  const made = new Set(catalog.map(({ reference }) => reference));
  for (const [position, { reference }] of saved.entries()) {
    if (!made.has(reference)) findings.add([name, position], `${reference} is not in the catalog of the world's seed`);
    if (given.has(reference)) findings.add([name, position], `${reference} occurs more than once`);
    given.add(reference);
  }
  for (const reference of made) if (!given.has(reference)) findings.add([name], `lacks ${reference} of the catalog`);
}

/** Checks the levels of an organization's limits, and the permissions of its keys. */
export function checkLimits(organization: CheckedOrganization, endpoints: readonly Endpoint[]): void {
  const { limits, rateLimits, rendertokens, rendertokenLimit } = organization.saved;
  for (const policy of policies) {
    const [tokens, { quota }] = [rateLimits[policy] ?? 0, limits[policy]];
    if (tokens > quota) organization.add(["rateLimits", policy], `has ${tokens} of ${quota} tokens`);
  }
  if (rendertokens.used > rendertokenLimit) {
    organization.add(["rendertokens", "used"], `is ${rendertokens.used} of ${rendertokenLimit} rendertokens`);
  }
  organization.each("keys", ({ permissions }, found) => {
    const unknown = unknownPattern(permissions ?? [], endpoints);
    if (unknown !== undefined) found.add(["permissions"], `has a permission for the unknown call ${unknown}`);
  });
}

/** Checks the faults, as they are checked when they are added. */
export function checkFaults({ faults }: SavedWorld, endpoints: readonly Endpoint[], findings: Findings): void {
  const ids = new Set<number>();
  for (const [position, { id, fault, seen, hits }] of faults.entries()) {
    const issue = faultIssue(fault, endpoints);
    if (issue !== undefined) findings.add(["faults", position, "fault"], issue);
    if (hits > seen) findings.add(["faults", position, "hits"], `is ${hits}, but only ${seen} requests were seen`);
    if (ids.has(id)) findings.add(["faults", position, "id"], `${id} occurs more than once`);
    ids.add(id);
  }
}
