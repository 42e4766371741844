/** Places an order for a shop's webhook, once, even if the shop sends the webhook twice or the process is killed. */
import { memoryStorage, type PlacedOrder, PodPartner, parseReference, RequestValidationError } from "pod-partner";
import { createEmulator, sampleImage } from "pod-partner/testing";

const emulator = createEmulator();
const storage = memoryStorage(); // in production one that outlives the process, and that all processes share: docs/storage.md
const partner = new PodPartner({ ...emulator.clientOptions, storage });

/** The content of the shop's webhook. Your shop uses other names. */
interface ShopOrder {
  id: number;
  customer: { first: string; last: string; street: string; zip: string; city: string; country: string; email: string };
  lines: { product: string; image: string; quantity: number }[];
}

/** Respond to the webhook with 200 only after this. If it throws, respond with an error, so that the shop sends the webhook again. */
function onShopOrder({ id, customer, lines }: ShopOrder): Promise<PlacedOrder> {
  return partner.orders.ensure({
    storeReference: emulator.demo.stores.api,
    shippingKind: "dropship",
    customIdentifier: `shop-${id}`,
    dropshipAddress: {
      firstname: customer.first,
      lastname: customer.last,
      streetname: customer.street,
      zipcode: customer.zip,
      city: customer.city,
      countryCode: customer.country,
      email: customer.email,
    },
    orderlines: lines.map(({ product, image, quantity }) => ({
      productReference: parseReference("Product", product),
      imageReference: parseReference("Image", image),
      quantity,
      annotations: [{ key: "shopOrder", value: String(id) }],
    })),
  });
}

const { reference: image } = await partner.images.upload(sampleImage("a design"));
const person = { first: "Ada", last: "Jansen", email: "" };
const webhook: ShopOrder = {
  id: 1001,
  customer: { ...person, street: "Dam 1", zip: "1012JS", city: "Amsterdam", country: "NL" },
  lines: [{ product: emulator.demo.products.slimCase, image, quantity: 1 }],
};

// The SDK reports an issue with its path, before it sends anything.
const fault = await onShopOrder(webhook).catch((error: unknown) => error);
if (RequestValidationError.isInstance(fault)) console.log(fault.issues[0]?.path.join("."), fault.issues[0]?.message);

webhook.customer.email = "ada@example.com";
const both = await Promise.all([onShopOrder(webhook), onShopOrder(webhook)]);
for (const { reference, existed } of both) console.log(reference, existed ? "was there already" : "was placed");
console.log("orders:", (await partner.orders.list().toArray()).length);
