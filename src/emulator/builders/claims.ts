import type { EvidenceReference, OrderReference, ShipmentReference } from "../../references/references.ts";
import type { ItemIssuesInput, PackageMissingInput } from "../../resources/claims/claim-input.schema.ts";
import { withOverrides } from "../../util/fields.ts";
import type { BuilderEmulator } from "./orders.ts";

/** Adds an unused photo to the emulator and returns its reference. */
export function validEvidence(emulator: BuilderEmulator, name = "valid"): EvidenceReference {
  const [evidence] = emulator.seed({ evidence: [name] }).evidence;
  if (evidence === undefined) throw new TypeError("The emulator added no evidence");
  return evidence;
}

interface Shipped {
  readonly orderReference: OrderReference;
  readonly shipmentReference: ShipmentReference;
}

/** Adds an order of one slim case that was shipped some days ago. */
function shipped(emulator: BuilderEmulator, daysAgo: number): Shipped {
  const [order] = emulator.seed({ orders: [{ daysAgo, shipments: [{}] }] }).orders;
  const [shipment] = order?.shipments ?? [];
  if (order === undefined || shipment === undefined) throw new TypeError("The emulator added no shipment");
  return { orderReference: order.reference, shipmentReference: shipment.reference };
}

/** The promised delivery window of a basic shipment in the Netherlands has passed, and the warranty has not (specification 4.9). */
const overdue = 14;

/**
 * Makes a valid claim of a missing package. Adds an order to the emulator that was shipped 14 days ago.
 *
 * @param overrides Fields that replace those of the valid claim. With `shipmentReference` no order is added.
 * @example
 * const { reference } = await partner.claims.createPackageMissing(validPackageMissing(emulator));
 */
export const validPackageMissing = (
  emulator: BuilderEmulator,
  { shipmentReference, ...overrides }: Partial<PackageMissingInput> = {},
): PackageMissingInput =>
  withOverrides<PackageMissingInput>(
    { shipmentReference: shipmentReference ?? shipped(emulator, overdue).shipmentReference, evidenceReferences: [] },
    overrides,
  );

/**
 * Makes a valid claim about a damaged item, with a photo. Adds an order to the emulator that was shipped a day ago.
 *
 * @param overrides Fields that replace those of the valid claim. With `shipmentReference` and `orderReference` no order is added.
 * @example
 * const { reference } = await partner.claims.createItemIssues(validItemIssues(emulator, { comment: "A scratch" }));
 */
export function validItemIssues(
  emulator: BuilderEmulator,
  { shipmentReference, orderReference, ...overrides }: Partial<ItemIssuesInput> = {},
): ItemIssuesInput {
  if ((shipmentReference === undefined) !== (orderReference === undefined)) {
    throw new TypeError("Give both `shipmentReference` and `orderReference`, or none of them");
  }
  const known = shipmentReference !== undefined && orderReference !== undefined;
  return {
    ...(known ? { shipmentReference, orderReference } : shipped(emulator, 1)),
    claimlines: overrides.claimlines ?? [
      {
        orderlineIndex: 1,
        quantity: 1,
        claimcategoryReference: emulator.demo.claimcategories.damaged,
        evidenceReferences: [validEvidence(emulator)],
      },
    ],
    ...(overrides.comment === undefined ? {} : { comment: overrides.comment }),
  };
}
