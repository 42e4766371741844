import { png } from "./images.ts";
import { expectCreated, type HttpResponse, type Service } from "./service.ts";

/** A complete address (2.3). */
export const address = {
  company: "",
  firstname: "Grace",
  lastname: "Hopper",
  streetname: "Keizersgracht",
  housenumber: "12",
  housenumberAddition: "A",
  additionalInfo: "",
  state: "",
  zipcode: "1015CN",
  city: "Amsterdam",
  countryCode: "NL",
  phonenumber: "",
  email: "grace@shop.example",
};

/** A reference that no resource has. */
export const unknownRef = (kind: string): string => `${kind}_${"z".repeat(26)}`;

export async function imageOf(service: Service, name = "design"): Promise<string> {
  return (await service.upload("/images", png(name))).body.image.reference;
}

export async function evidenceOf(service: Service, name = "photo"): Promise<string> {
  return (await service.upload("/evidence", png(name))).body.evidence.reference;
}

/** A valid dropship order: three printed cases, and two screen protectors with an annotation. */
export async function orderInput(service: Service, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    order: {
      storeReference: service.demo.stores.api,
      shippingKind: "dropship",
      dropshipAddress: address,
      orderlines: [
        { productReference: service.demo.products.slimCase, imageReference: await imageOf(service), quantity: 3 },
        {
          productReference: service.demo.products.screenProtector,
          quantity: 2,
          annotations: [{ key: "row", value: "7" }],
        },
      ],
      ...changes,
    },
  };
}

export const combined = { shippingKind: "combined", dropshipAddress: undefined };

/** Sends a valid order with changes. */
export async function sendOrder(service: Service, changes?: Readonly<Record<string, unknown>>): Promise<HttpResponse> {
  return service.post("/orders", await orderInput(service, changes));
}

/** Places a valid order. The type of its reference is that of the controls. */
export async function placeOrder(
  service: Service,
  changes?: Readonly<Record<string, unknown>>,
): Promise<`Order_${string}`> {
  const created = await sendOrder(service, changes);
  expectCreated(created);
  return created.body.order.reference;
}

export async function readOrder(service: Service, reference: string) {
  return (await service.get(`/orders/${reference}`)).body.order;
}

export const quoteInput = (service: Service, changes: Readonly<Record<string, unknown>> = {}) => ({
  quote: {
    storeReference: service.demo.stores.api,
    shippingKind: "dropship",
    dropshipAddress: address,
    orderlines: [{ productReference: service.demo.products.slimCase, quantity: 1 }],
    ...changes,
  },
});

/** Places and ships an order, tracked. */
export async function shipped(service: Service, changes?: Readonly<Record<string, unknown>>) {
  const order = await placeOrder(service, { dropshipMinimalShippingLevel: "tracked", ...changes });
  return { order, shipment: service.emulator.ship(order) };
}

/** A valid claim about one unit of the first line. Its category needs no evidence. */
export const itemClaim = (
  service: Service,
  { order, shipment }: { readonly order: string; readonly shipment: string },
  line: Readonly<Record<string, unknown>> = {},
) => ({
  claim: {
    shipmentReference: shipment,
    orderReference: order,
    claimlines: [
      {
        orderlineIndex: 1,
        quantity: 1,
        claimcategoryReference: service.demo.claimcategories.wrongItem,
        evidenceReferences: [] as readonly string[],
        ...line,
      },
    ],
  },
});

/** Ships an order and files a claim about it. */
export async function claimed(service: Service, line?: Readonly<Record<string, unknown>>) {
  const parcel = await shipped(service);
  const created = await service.post("/claim-item-issues", itemClaim(service, parcel, line));
  expectCreated(created);
  return { ...parcel, claim: created.body.claim.reference as `Claim_${string}` };
}

export async function readClaim(service: Service, reference: string) {
  return (await service.get(`/claims/${reference}`)).body.claim;
}

/** A valid render: of the demo product that is printed, in its studio. */
export async function renderInput(service: Service, name = "design", perspective: "front" | "angled" = "front") {
  const { scenes, products, perspectives } = service.demo;
  const query = new URLSearchParams({
    sceneReference: scenes.studio,
    productReference: products.slimCase,
    perspectiveReference: perspectives[perspective],
  });
  const { composition } = (await service.get(`/lookup-composition?${query}`)).body;
  return { render: { compositionReference: composition.reference, imageReference: await imageOf(service, name) } };
}

export async function createRender(service: Service, name?: string): Promise<`Render_${string}`> {
  const created = await service.post("/renders", await renderInput(service, name));
  expectCreated(created);
  return created.body.render.reference;
}
