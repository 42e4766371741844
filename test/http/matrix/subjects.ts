import type { PodPartner } from "pod-partner";
import type { Emulator } from "pod-partner/testing";
import { dropshipOrder } from "../../support/orders.ts";

/** A call that faults apply to: one for each class of endpoints, and each creation. */
export interface Subject {
  /** The heading in the table. */
  readonly name: string;
  /** What a lost response means for this call. */
  readonly repeat: "safe" | "idempotent" | "recoverable" | "never";
  /** The route that the faults apply to. */
  readonly on: string;
  /** Creates what the call needs, and returns the call and a function that counts how often it took effect. */
  prepare(partner: PodPartner, emulator: Emulator): Promise<Prepared>;
}

interface Prepared {
  readonly call: (partner: PodPartner) => { withResponse(): Promise<Settled> };
  /** The number of created orders or claims, or whether the order is canceled or the claim retracted. */
  readonly effects: () => Promise<number>;
}

/** The part of a call's result that the tests read. */
export interface Settled {
  readonly timeline: readonly { readonly step: string; readonly outcome: string }[];
}

const { dropshipAddress: address } = dropshipOrder;

/** A valid order of a product that needs no image. */
export const orderOf = ({ demo }: Emulator, customIdentifier: string) => ({
  storeReference: demo.stores.api,
  shippingKind: "dropship" as const,
  customIdentifier,
  dropshipAddress: address,
  orderlines: [{ productReference: demo.products.screenProtector, quantity: 2 }],
});

const countOrders = async (partner: PodPartner) => (await partner.orders.list().toArray()).length;

const place = async (partner: PodPartner, emulator: Emulator) =>
  (await partner.orders.create(orderOf(emulator, "before"))).reference;

/** A claim about one item of an existing shipment. */
export async function claimable(partner: PodPartner, emulator: Emulator) {
  const orderReference = await place(partner, emulator);
  const category = (await partner.claims.categories.list()).find(
    ({ evidenceRequired, name }) => !evidenceRequired && name !== "Package missing",
  );
  if (category === undefined) throw new Error("The catalog has no category that needs no evidence");
  return {
    orderReference,
    shipmentReference: emulator.ship(orderReference),
    claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: category.reference }],
  };
}

const get: Subject = {
  name: "orders.get",
  repeat: "safe",
  on: "orders.get",
  prepare: async (setup, emulator) => {
    const reference = await place(setup, emulator);
    return { call: (partner) => partner.orders.get(reference), effects: async () => 0 };
  },
};

const cancel: Subject = {
  name: "orders.cancel",
  repeat: "idempotent",
  on: "orders.cancel",
  prepare: async (setup, emulator) => {
    const reference = await place(setup, emulator);
    return {
      call: (partner) => partner.orders.cancel(reference, [{ index: 1, canceledQuantity: 1 }]),
      effects: async () => (await setup.orders.get(reference)).orderlines[0]?.canceledQuantity ?? Number.NaN,
    };
  },
};

const create: Subject = {
  name: "orders.create",
  repeat: "recoverable",
  on: "orders.create",
  prepare: async (setup, emulator) => ({
    call: (partner) => partner.orders.create(orderOf(emulator, "shop-1001")),
    effects: () => countOrders(setup),
  }),
};

const claim: Subject = {
  name: "claims.createItemIssues",
  repeat: "recoverable",
  on: "claims.createItemIssues",
  prepare: async (setup, emulator) => {
    const input = await claimable(setup, emulator);
    return {
      call: (partner) => partner.claims.createItemIssues(input),
      effects: async () => (await setup.claims.list().toArray()).length,
    };
  },
};

const retract: Subject = {
  name: "claims.retract",
  repeat: "recoverable",
  on: "claims.retract",
  prepare: async (setup, emulator) => {
    const { reference } = await setup.claims.createItemIssues(await claimable(setup, emulator));
    return {
      call: (partner) => partner.claims.retract(reference),
      effects: async () => ((await setup.claims.get(reference)).status === "retracted" ? 1 : 0),
    };
  },
};

const request: Subject = {
  name: "request POST",
  repeat: "never",
  on: "POST /orders",
  prepare: async (setup, emulator) => ({
    call: (partner) => {
      const order = orderOf(emulator, "shop-1001");
      return partner.request("POST", "/orders", { body: { order: { ...order, dropshipAddress: wholeAddress } } });
    },
    effects: () => countOrders(setup),
  }),
};

/** As it is sent: with every field. */
const wholeAddress = {
  company: "",
  housenumberAddition: "",
  additionalInfo: "",
  state: "",
  phonenumber: "",
  ...address,
};

export const subjects: readonly Subject[] = [get, cancel, create, claim, retract, request];
