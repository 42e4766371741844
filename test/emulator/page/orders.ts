import type { PodPartner } from "pod-partner";
import { type Emulator, sampleImage } from "pod-partner/testing";

/** Places an order of combined shipping, which needs no address. */
export async function place(partner: PodPartner, emulator: Emulator, customIdentifier: string, quantity = 1) {
  const { reference: imageReference } = await partner.images.upload(sampleImage());
  return await partner.orders.create({
    storeReference: emulator.demo.stores.wholesale,
    shippingKind: "combined",
    customIdentifier,
    orderlines: [{ productReference: emulator.demo.products.slimCase, imageReference, quantity }],
  });
}
