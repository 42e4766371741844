/** Makes an order of a Shopify order, for examples/cookbook/shopify-webhook.ts. */
import { readFileSync } from "node:fs";
import { type IdentifiedOrderInput, parseReference, type StoreReference } from "pod-partner";

/** The part of the webhook `orders/paid` that is used here. */
export interface ShopifyOrder {
  readonly id: number;
  readonly email: string;
  readonly shipping_address: {
    readonly [Field in "first_name" | "last_name" | "company" | "address2" | "zip" | "province_code"]: string | null;
  } & { readonly [Field in "address1" | "city" | "country_code"]: string };
  readonly line_items: readonly { readonly sku: string | null; readonly quantity: number }[];
}

/** What you let print: { "ADA-1": { "product": "Product_…", "image": "Image_…" } }. */
const printed = new Map<string | null, { product: string; image: string }>(
  Object.entries(JSON.parse(readFileSync("skus.json", "utf8"))),
);

/** The order, or undefined if it has no line that you let print. Other lines are left out. */
export function orderOf(shopify: ShopifyOrder, storeReference: StoreReference): IdentifiedOrderInput | undefined {
  const { id, email, shipping_address: to, line_items } = shopify;
  const orderlines = line_items.flatMap(({ sku, quantity }) => {
    const item = printed.get(sku);
    if (item === undefined) return [];
    const { product, image } = item;
    return {
      productReference: parseReference("Product", product),
      imageReference: parseReference("Image", image),
      quantity,
    };
  });
  if (orderlines.length === 0) return undefined;
  const dropshipAddress = {
    firstname: to.first_name ?? "",
    lastname: to.last_name ?? "",
    company: to.company ?? "",
    streetname: to.address1, // with the number: the service takes it as line 1
    additionalInfo: to.address2 ?? "",
    zipcode: to.zip ?? "",
    city: to.city,
    state: to.province_code ?? "",
    countryCode: to.country_code,
    email,
  };
  return { storeReference, customIdentifier: `shopify-${id}`, shippingKind: "dropship", dropshipAddress, orderlines };
}
