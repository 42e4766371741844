import { PodPartner } from "pod-partner";
import { createEmulator, type Emulator, sampleImage } from "pod-partner/testing";
import type { Block } from "./blocks.ts";

/** The names that a block may use without declaring them, with their types: what the pages say that you have already. */
const types = {
  partner: 'import("pod-partner").PodPartner',
  emulator: 'import("pod-partner/testing").RunningEmulator',
  baseUrl: "string",
  secretKey: "string",
  design: "Uint8Array",
  photo: "Uint8Array",
  address: 'import("pod-partner").AddressInput',
  order: 'import("pod-partner").IdentifiedOrderInput',
  orders: 'readonly import("pod-partner").IdentifiedOrderInput[]',
  storeReference: 'import("pod-partner").StoreReference',
  productReference: 'import("pod-partner").ProductReference',
  sceneReference: 'import("pod-partner").SceneReference',
  perspectiveReference: 'import("pod-partner").PerspectiveReference',
  imageReference: 'import("pod-partner").ImageReference',
  compositionReference: 'import("pod-partner").CompositionReference',
  renderReference: 'import("pod-partner").RenderReference',
  orderReference: 'import("pod-partner").OrderReference',
  shippedOrderReference: 'import("pod-partner").OrderReference',
  shipmentReference: 'import("pod-partner").ShipmentReference',
  claimcategoryReference: 'import("pod-partner").ClaimcategoryReference',
  claimReference: 'import("pod-partner").ClaimReference',
  brandReference: 'import("pod-partner").BrandReference',
} as const;

type Name = keyof typeof types;

const names = Object.keys(types) as readonly Name[];

/** Whether a block is a program as it stands, to be copied by who has nothing yet: README.md knows no names but its own. */
export const standsAlone = ({ page }: Block): boolean => page === "README.md";

/** One line that declares what the block uses and does not declare. */
export const declarations = (block: Block): string =>
  names
    .filter((name) => !standsAlone(block) && block.uses.has(name) && !block.declares.has(name))
    .map((name) => `declare const ${name}: ${types[name]};`)
    .join(" ");

const address = {
  firstname: "Ada",
  lastname: "Jansen",
  streetname: "Damrak",
  housenumber: "1",
  zipcode: "1012LG",
  city: "Amsterdam",
  countryCode: "NL",
  email: "ada@example.com",
};

/** The same names with values: an emulator in this process, in which one order is placed and one is shipped. */
export async function values(): Promise<Readonly<Record<Name, unknown>>> {
  const emulator = createEmulator({ seed: { orders: 2 }, renderDuration: 0 });
  const { baseUrl, secretKey, fetch, demo } = emulator;
  const partner = new PodPartner({ baseUrl, secretKey, fetch });
  const [storeReference, productReference] = [demo.stores.api, demo.products.slimCase];
  const [sceneReference, perspectiveReference] = [demo.scenes.studio, demo.perspectives.front];
  const { reference: imageReference } = await partner.images.upload(sampleImage());
  const { reference: compositionReference } = await partner.compositions.lookup({
    sceneReference,
    productReference,
    perspectiveReference,
  });
  const { reference: renderReference } = await partner.renders.create({ compositionReference, imageReference });
  const order = (customIdentifier: string, level: "basic" | "tracked" = "basic") => ({
    storeReference,
    shippingKind: "dropship" as const,
    customIdentifier,
    dropshipAddress: address,
    dropshipMinimalShippingLevel: level,
    orderlines: [{ productReference, imageReference, quantity: 2 }],
  });
  const { reference: orderReference } = await partner.orders.create(order("shop-1000"));
  const shipped = await partner.orders.create(order("shop-999", "tracked"));
  const shipmentReference = emulator.ship(shipped.reference);
  const claimcategoryReference = demo.claimcategories.wrongItem;
  const { reference: claimReference } = await partner.claims.createItemIssues({
    shipmentReference,
    orderReference: shipped.reference,
    claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference }],
  });
  const [brand] = await partner.organization.brands.list();
  return {
    partner,
    emulator,
    baseUrl,
    secretKey,
    design: sampleImage("design"),
    photo: sampleImage("photo"),
    address,
    order: order("shop-1001"),
    orders: ["shop-1001", "shop-1002", "shop-1003"].map((identifier) => order(identifier)),
    storeReference,
    productReference,
    sceneReference,
    perspectiveReference,
    imageReference,
    compositionReference,
    renderReference,
    orderReference,
    shippedOrderReference: shipped.reference,
    shipmentReference,
    claimcategoryReference,
    claimReference,
    brandReference: brand?.reference,
  };
}

/** The client as a block makes it: it goes to the emulator wherever the block does not say otherwise. */
export const clientOf = ({ baseUrl, secretKey, fetch }: Emulator): typeof PodPartner =>
  class extends PodPartner {
    constructor(options: ConstructorParameters<typeof PodPartner>[0] = {}) {
      super({ baseUrl, secretKey, fetch, ...options });
    }
  };
