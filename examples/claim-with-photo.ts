/** Files a claim about damaged items with a photo. The operator reviews it, and the program reads the decision. */
import { ApiError, PodPartner } from "pod-partner";
import { createEmulator, sampleImage } from "pod-partner/testing";

const emulator = createEmulator({ seed: { orders: 1 } });
const partner = new PodPartner(emulator.clientOptions);

const [order] = await partner.orders.list().toArray({ limit: 1 });
if (order === undefined) throw new Error("There is no order");
const shipmentReference = emulator.ship(order.reference);

// The list of categories can change: always fetch it.
const categories = await partner.claims.categories.list();
const damaged = categories.find(({ name }) => name === "Damaged in transit");
if (damaged === undefined) throw new Error("There is no such category");

const file = async (photos: Uint8Array[]) => {
  const evidence = await Promise.all(photos.map((photo) => partner.evidence.upload(photo)));
  return partner.claims.createItemIssues({
    shipmentReference,
    orderReference: order.reference,
    comment: "The corner is broken.",
    claimlines: [
      {
        orderlineIndex: 1,
        quantity: 1,
        claimcategoryReference: damaged.reference,
        evidenceReferences: evidence.map(({ reference }) => reference),
      },
    ],
  });
};

try {
  await file([]);
} catch (error) {
  if (!(error instanceof ApiError) || error.code !== "evidence_required") throw error;
  console.log(error.code, "→", error.hint);
}

const { reference } = await file([sampleImage("a broken corner")]);
console.log("filed:", (await partner.claims.get(reference)).status);

emulator.reviewClaim(reference, { decision: "replacement", comment: "Sorry. A new one is on its way." });
const { status, decision, claimlines } = await partner.claims.get(reference);
console.log("reviewed:", status, claimlines[0]?.decision?.replacementQuantity, decision?.comment);
