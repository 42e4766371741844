/** Five orders of different quantities, which the programs of this folder place. */
import { type IdentifiedOrderInput, PodPartner } from "pod-partner";
import { sampleImage } from "pod-partner/testing";

export async function fiveOrders() {
  const partner = new PodPartner();
  const stores = await partner.organization.stores.list();
  const products = await partner.catalog.products.list().toArray();
  const store = stores.find(({ integration }) => integration === "api");
  const product = products.find(({ status }) => status === "launched");
  if (store === undefined || product === undefined) throw new Error("There is no store for the API, or no product.");
  const { reference: imageReference } = await partner.images.upload(sampleImage("a design"));
  const line = { productReference: product.reference, imageReference };
  const orders = [1, 2, 3, 4, 5].map(
    (quantity): IdentifiedOrderInput => ({
      customIdentifier: `shop-${quantity}`,
      storeReference: store.reference,
      shippingKind: "combined",
      orderlines: [{ ...line, quantity }],
    }),
  );
  return { store, line, orders };
}
