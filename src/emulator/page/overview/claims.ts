import type { StoredClaim } from "../../records/records.ts";
import { statusOf } from "../../rules/claims.ts";
import { closedAt, evidenceOf } from "../../rules/evidence.ts";
import type { World } from "../../state/world.ts";
import { newest } from "./newest.ts";
import { nameOfOrder } from "./orders.ts";
import { evidencePath } from "./paths.ts";
import type { ClaimView, Listed } from "./view.ts";

/** The paths of the photos that are not purged. */
const photos = (world: World, references: StoredClaim["evidence"]): readonly string[] =>
  references.filter((reference) => evidenceOf(world, reference) !== undefined).map(evidencePath);

const view =
  (world: World) =>
  (claim: StoredClaim): ClaimView => ({
    reference: claim.reference,
    order: claim.orderReference,
    orderName: nameOfOrder(world, claim.orderReference),
    status: statusOf(claim),
    comment: claim.comment,
    created: claim.created,
    closed: closedAt(claim),
    award: claim.decision?.award ?? null,
    decisionComment: claim.decision?.comment ?? "",
    replacement: claim.replacement,
    evidence: photos(world, claim.evidence),
    lines: claim.lines.map(({ orderlineIndex, productReference, quantity, categoryReference, evidence }) => ({
      index: orderlineIndex,
      product: world.products.get(productReference)?.name ?? productReference,
      quantity,
      category: world.claimcategories.find(({ reference }) => reference === categoryReference)?.name ?? "",
      evidence: photos(world, evidence),
    })),
  });

export const claimsView = (world: World): Listed<ClaimView> => newest(world.claims.all(), view(world));
