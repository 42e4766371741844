import type { EvidenceReference } from "../../../references/references.ts";
import type { StoredClaim } from "../../records/records.ts";
import type { RecordFindings } from "./findings.ts";
import type { CheckedOrganization } from "./organization.ts";

const evidenceOf = ({ evidence, lines }: StoredClaim): readonly EvidenceReference[] => [
  ...evidence,
  ...lines.flatMap((line) => line.evidence),
];

/** Checks the lines of a claim against its shipment. */
function checkLines({ world }: CheckedOrganization, claim: StoredClaim, found: RecordFindings): void {
  const parcels = world.shipments.get(claim.shipmentReference)?.parcels ?? [];
  const categories = new Set<string>(world.claimcategories.map(({ reference }) => reference));
  for (const [position, line] of claim.lines.entries()) {
    const { orderReference, orderlineIndex, quantity, categoryReference } = line;
    const at = ["lines", position];
    const shipped = parcels
      .find((parcel) => parcel.orderReference === orderReference)
      ?.lines.find(({ index }) => index === orderlineIndex)?.quantity;
    if (shipped === undefined) {
      found.add(at, `claims line ${orderlineIndex} of ${orderReference}, which its shipment does not have`);
    } else if (quantity > shipped) {
      found.add([...at, "quantity"], `claims ${quantity} of ${shipped} shipped items`);
    }
    found.names([...at, "productReference"], line.productReference, world.products);
    found.names([...at, "imageReference"], line.imageReference, world.images);
    if (!categories.has(categoryReference)) {
      found.add([...at, "categoryReference"], `names ${categoryReference}, which the catalog does not have`);
    }
  }
}

/** Checks the decision of a claim, and its replacement. */
function checkDecision({ world }: CheckedOrganization, claim: StoredClaim, found: RecordFindings): void {
  const { decision, retracted, replacement, lines } = claim;
  if (decision !== null && retracted !== null) found.add(["retracted"], "is both decided and retracted");
  const replaced = world.orders.get(replacement);
  if (replaced !== undefined && replaced.settles !== claim.reference) {
    found.add(["replacement"], `names ${replacement}, which settles ${replaced.settles ?? "no claim"}`);
  }
  if (decision === null) return;
  if (decision.lines.length !== lines.length) {
    found.add(["decision", "lines"], `has ${decision.lines.length} decisions for ${lines.length} lines`);
    return;
  }
  for (const [position, { replacement: replacing, refund, rejection }] of decision.lines.entries()) {
    const decided = replacing + refund + rejection;
    const claimed = lines[position]?.quantity;
    if (decided !== claimed) found.add(["decision", "lines", position], `decides on ${decided} of ${claimed} items`);
  }
}

/** Checks the claims against their shipments, their orders and their evidence. */
export function checkClaims(organization: CheckedOrganization): void {
  const { orders, shipments, keys, evidence } = organization.world;
  organization.each("claims", (claim, found) => {
    found.names(["orderReference"], claim.orderReference, orders);
    found.names(["replacement"], claim.replacement, orders);
    found.names(["shipmentReference"], claim.shipmentReference, shipments);
    found.names(["createdBy"], claim.createdBy, keys);
    if (shipments.get(claim.shipmentReference) !== undefined) checkLines(organization, claim, found);
    checkDecision(organization, claim, found);
    // Evidence that is purged is not in the world any more.
    for (const reference of evidenceOf(claim)) {
      const kept = evidence.get(reference);
      if (kept !== undefined && kept.claim !== claim.reference) {
        found.add(["evidence"], `has ${reference}, which belongs to ${kept.claim ?? "no claim"}`);
      }
    }
  });
}

/** Checks that evidence in use is that of its claim. */
export function checkEvidence(organization: CheckedOrganization): void {
  const { claims } = organization.world;
  organization.each("evidence", ({ reference, claim: name }, found) => {
    found.names(["claim"], name, claims);
    const claim = claims.get(name);
    if (claim !== undefined && !evidenceOf(claim).includes(reference))
      found.add(["claim"], `is not evidence of ${name}`);
  });
}

/** Checks that each render has an image and a composition. */
export function checkRenders(organization: CheckedOrganization): void {
  const { images, compositions } = organization.world;
  organization.each("renders", ({ compositionReference, imageReference }, found) => {
    found.names(["compositionReference"], compositionReference, compositions);
    found.names(["imageReference"], imageReference, images);
  });
}
