// Your contact at the service has told you of fields that its specification does not show.
import type { PodPartner, QuoteInput } from "pod-partner";

declare module "pod-partner" {
  interface Account {
    readonly name: string;
  }
  interface Address {
    readonly region?: string;
  }
  interface Brand {
    readonly name: string;
  }
  interface Claim {
    readonly note: string;
  }
  interface Claimcategory {
    readonly note: string;
  }
  interface ClaimcategorySummary {
    readonly short: string;
  }
  interface Claimline {
    readonly note: string;
  }
  interface ClaimSummary {
    readonly priority: number;
  }
  interface Composition {
    readonly quality: string;
  }
  interface Order {
    readonly customIdentifier: string;
  }
  interface Orderline {
    readonly price: number;
  }
  interface OrderSummary {
    readonly created: string;
  }
  interface Organization {
    readonly name: string;
  }
  interface Packaging {
    readonly name: string;
  }
  interface Perspective {
    readonly angle: number;
  }
  interface PrintImage {
    readonly filename: string;
  }
  interface Product {
    readonly brand: string;
  }
  interface ProductDetail {
    readonly ean: string;
  }
  interface Productgroup {
    readonly name: string;
  }
  interface Render {
    readonly priority: number;
  }
  interface RenderFile {
    readonly widthPx: number;
  }
  interface Rendertokens {
    readonly reserved: number;
  }
  interface Scene {
    readonly season: string;
  }
  interface SceneSummary {
    readonly thumbnail: string;
  }
  interface Shipment {
    readonly weightGrams: number;
  }
  interface ShippingOption {
    readonly days: number;
  }
  interface Store {
    readonly name: string;
  }
  interface WarehouseItem {
    readonly location: string;
  }
}

/** Each field is there, and the fields of the specification are, too. */
export async function read(partner: PodPartner, quote: QuoteInput) {
  const { organization, catalog, warehouse, addresses, images, scenes, perspectives, compositions, renders, orders } =
    partner;
  const [account] = await organization.accounts.list();
  const [brand] = await organization.brands.list();
  const [store] = await organization.stores.list();
  const [productgroup] = await catalog.productgroups.list();
  const [packaging] = await catalog.packagings.list();
  const [product] = await catalog.products.list().toArray();
  const detail = await catalog.products.get("Product_1");
  const [item] = await warehouse.items.list().toArray();
  const address = await addresses.get("Address_1");
  const [image] = await images.list().toArray();
  const scene = await scenes.get("Scene_1");
  const [sceneSummary] = await scenes.list();
  const perspective = await perspectives.get("Perspective_1");
  const composition = await compositions.get("Composition_1");
  const render = await renders.get("Render_1");
  const tokens = await partner.rendertokens.get();
  const order = await orders.get("Order_1");
  const [summary] = await orders.list().toArray();
  const [option] = await orders.quote(quote);
  const shipment = await partner.shipments.get("Shipment_1");
  const claim = await partner.claims.get("Claim_1");
  const [claimSummary] = await partner.claims.list().toArray();
  const [category] = await partner.claims.categories.list();
  const texts: (string | undefined)[] = [
    (await organization.get()).name,
    account?.name,
    brand?.name,
    brand?.reference,
    store?.name,
    productgroup?.name,
    packaging?.name,
    product?.brand,
    product?.status,
    detail.ean,
    detail.brand,
    item?.location,
    address.region,
    image?.filename,
    scene.season,
    scene.thumbnail,
    sceneSummary?.thumbnail,
    composition.quality,
    order.customIdentifier,
    order.reference,
    summary?.created,
    claim.note,
    claim.claimlines[0]?.note,
    claim.claimlines[0]?.claimcategory.short,
    category?.note,
    category?.short,
  ];
  const numbers: (number | undefined)[] = [
    perspective.angle,
    render.priority,
    render.media?.widthPx,
    tokens.reserved,
    order.orderlines[0]?.price,
    option?.days,
    shipment.weightGrams,
    claimSummary?.priority,
  ];
  return { texts, numbers };
}
