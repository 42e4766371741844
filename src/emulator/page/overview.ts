import { type Duration, spanOf } from "../clock/point-in-time.ts";
import type { SavedFault } from "../faults/faults.ts";
import { claimStatus } from "../rules/claims.ts";
import { closedAt, evidenceOf } from "../rules/files.ts";
import { orderStatus } from "../rules/orders.ts";
import { renderStatus } from "../rules/renders.ts";
import { trackingOf } from "../rules/ship.ts";
import type { Emulation } from "../state/emulation.ts";
import type { World } from "../state/world.ts";
import type { AutomationOptions } from "../work/automation.ts";
import type { CallbackTry, SentCallback } from "../work/callback.ts";
import type { StoredClaim, StoredOrder, StoredRender } from "../work/records.ts";
import { evidencePath, productPath, renderPath } from "./pictures.ts";
import type {
  AutomationView,
  CallbackView,
  ClaimView,
  FaultView,
  LimitView,
  Listed,
  MarkView,
  OrderView,
  PageState,
  ProductView,
  RenderView,
  ShipmentView,
  TryView,
} from "./view.ts";

/** The most records of one list that the page receives. More make the page slow and do not help its reader. */
const shown = 100;

/** The newest of records that are ordered oldest first. Its work does not grow with their number. */
const newest = <Record, Item>(records: readonly Record[], view: (record: Record) => Item): Listed<Item> => ({
  items: records.slice(-shown).reverse().map(view),
  total: records.length,
});

/** The rate-limit buckets as they are now. */
const limitsView = ({ rateLimits, limits }: World): readonly LimitView[] =>
  Object.entries(rateLimits.save()).map(([policy, remaining]) => {
    const { quota, window } = limits[policy as keyof typeof limits];
    return { policy, quota, window, remaining };
  });

/** The most characters of a fault's details. */
const maxLength = 120;

const nthView = (nth: SavedFault["fault"]["nth"]): string | null => {
  if (nth === undefined) return null;
  return typeof nth === "number" ? `request ${nth}` : "some requests";
};

/** The fields of a fault that its kind does not say: `ms 3000`. */
function detailsOf({ on, nth, fault, ...rest }: SavedFault["fault"]): string {
  const fields = Object.entries(rest).map(([name, value]) =>
    typeof value === "object" || typeof value === "string" ? `${name} ${JSON.stringify(value)}` : `${name} ${value}`,
  );
  const text = fields.join(", ");
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** The faults, the latest first. */
const faultsView = (faults: readonly SavedFault[]): readonly FaultView[] =>
  faults.toReversed().map(({ id, fault, seen, hits }) => ({
    id,
    on: fault.on ?? null,
    nth: nthView(fault.nth),
    kind: fault.fault,
    fault,
    details: detailsOf(fault),
    isSpent: typeof fault.nth === "number" && seen >= fault.nth,
    hits,
  }));

/** The shipments of the orders, by the order's reference. */
function shipmentsOf(world: World, orders: readonly StoredOrder[]): ReadonlyMap<string, readonly ShipmentView[]> {
  const found = new Map<string, ShipmentView[]>(orders.map(({ reference }) => [reference, []]));
  for (const shipment of world.shipments.values()) {
    for (const { orderReference, lines } of shipment.parcels) {
      const { carrier = null, trackingNumber = null } = trackingOf(world, shipment);
      const units = lines.reduce((sum, { quantity }) => sum + quantity, 0);
      const { reference, shipped } = shipment;
      found.get(orderReference)?.push({ reference, shipped, units, carrier, trackingNumber });
    }
  }
  return found;
}

const orderView =
  (world: World, shipments: ReadonlyMap<string, readonly ShipmentView[]>) =>
  (order: StoredOrder): OrderView => ({
    reference: order.reference,
    customIdentifier: order.customIdentifier ?? null,
    legacyOrderCode: order.legacyOrderCode,
    created: order.created,
    store: world.stores.get(order.storeReference)?.name ?? order.storeReference,
    shippingKind: order.shippingKind,
    status: orderStatus(world, order).code,
    onHold: order.onHold?.reason ?? null,
    inProduction: order.inProduction,
    settles: order.settles ?? null,
    lines: order.lines.map(({ index, productReference, quantity, shippedQuantity, canceledQuantity }) => ({
      index,
      product: world.products.get(productReference)?.name ?? productReference,
      quantity,
      shipped: shippedQuantity,
      canceled: canceledQuantity,
    })),
    shipments: shipments.get(order.reference) ?? [],
  });

/** The name that a partner knows an order by: its own identifier, if it has one. */
function nameOfOrder(world: World, reference: StoredOrder["reference"]): string {
  const order = world.orders.get(reference);
  return order?.customIdentifier ?? order?.legacyOrderCode ?? reference;
}

function ordersView(world: World): Listed<OrderView> {
  const orders = world.orders.all();
  return newest(orders, orderView(world, shipmentsOf(world, orders.slice(-shown))));
}

const productsView = (world: World): Listed<ProductView> =>
  newest(world.products.all(), ({ reference, name, status, availableQuantity, legacyItemSKU }) => ({
    reference,
    name,
    status,
    available: availableQuantity,
    legacySku: legacyItemSKU,
    picture: productPath(reference),
  }));

const ms = (after: number | Duration | undefined): number | null => (after === undefined ? null : spanOf(after));

const automationView = ({ production, shipping, review }: AutomationOptions): AutomationView => ({
  production: ms(production),
  shipping: ms(shipping),
  review: ms(review?.after),
  decision: review?.decision ?? null,
});

/** The work that is due next. */
function nextView({ agenda, callbacks }: Emulation): PageState["next"] {
  const [due] = agenda.save();
  if (due === undefined) return null;
  const { kind: name, ...about } = due.task;
  const callback = "id" in about ? callbacks.save().find(({ id }) => id === about.id)?.orderReference : undefined;
  const references =
    "order" in about ? [about.order] : "claim" in about ? [about.claim] : "render" in about ? [about.render] : [];
  return { at: due.at, name, references: callback === undefined ? references : [callback] };
}

/** The paths of the photos that are not purged. */
const photos = (world: World, references: StoredClaim["evidence"]): readonly string[] =>
  references.filter((reference) => evidenceOf(world, reference) !== undefined).map(evidencePath);

const claimView =
  (world: World) =>
  (claim: StoredClaim): ClaimView => ({
    reference: claim.reference,
    order: claim.orderReference,
    orderName: nameOfOrder(world, claim.orderReference),
    status: claimStatus(claim),
    comment: claim.comment,
    created: claim.created,
    closed: closedAt(claim),
    award: claim.decision?.award ?? null,
    decisionComment: claim.decision?.comment ?? "",
    replacement: claim.replacement,
    evidence: photos(world, claim.evidence),
    lines: claim.lines.map(({ orderlineIndex, productReference, quantity, categoryReference, evidence }) => ({
      index: orderlineIndex,
      product: world.products.get(productReference)?.name ?? productReference,
      quantity,
      category: world.claimcategories.find(({ reference }) => reference === categoryReference)?.name ?? "",
      evidence: photos(world, evidence),
    })),
  });

const claimsView = (world: World): Listed<ClaimView> => newest(world.claims.all(), claimView(world));

const tryView = ({ at, status, error, duration, body }: CallbackTry): TryView => ({
  at,
  outcome: status === null ? (error ?? "no response") : String(status),
  ok: status !== null && status >= 200 && status < 300,
  duration,
  body: body ?? null,
});

const callbackView =
  (world: World) =>
  ({ id, orderReference, url, status, nextTryAt, tried, tries }: SentCallback): CallbackView => ({
    id,
    order: orderReference,
    orderName: nameOfOrder(world, orderReference),
    url,
    status,
    due: nextTryAt,
    tried,
    tries: tries.map(tryView),
  });

const callbacksView = (world: World, callbacks: readonly SentCallback[]): Listed<CallbackView> =>
  newest(
    callbacks.filter(({ orderReference }) => world.orders.get(orderReference) !== undefined),
    callbackView(world),
  );

const renderView =
  (world: World) =>
  (render: StoredRender): RenderView => {
    const status = renderStatus(world, render);
    const composition = world.compositions.get(render.compositionReference);
    return {
      reference: render.reference,
      status,
      created: render.created,
      finished: render.completed,
      product: composition?.product.name ?? "",
      scene: composition?.scene.name ?? "",
      tokenCost: composition?.tokenCost ?? 0,
      picture: status === "completed" ? renderPath(render.reference) : null,
    };
  };

const rendersView = (world: World): Listed<RenderView> => newest([...world.renders.values()], renderView(world));

/** An order that needs neither an address nor an image. Null without a store that accepts orders. */
function exampleOrder({ stores, demo }: World) {
  const store = [...stores.values()].findLast(({ integration }) => integration === "api");
  if (store === undefined) return null;
  return {
    order: {
      storeReference: store.reference,
      shippingKind: "combined",
      orderlines: [{ productReference: demo.products.screenProtector, quantity: 1 }],
    },
  };
}

/**
 * What the page shows of one organization of the emulated service: that with the name, or the first one. The lists have only the newest
 * records, so that its size is bounded.
 */
export function overview(emulation: Emulation, marks: readonly MarkView[], name?: string | null): PageState {
  const { clock, settings, faults, callbacks, checkpoints, worlds, automation, parallel } = emulation;
  const world = worlds.find(({ organization }) => organization.name === name) ?? worlds[0];
  return {
    organization: world.organization.name,
    organizations: worlds.map(({ organization }) => organization.name),
    baseUrl: settings.baseUrl,
    environment: settings.environment,
    clock: { now: clock.now(), frozen: clock.speed === 0, speed: clock.speed },
    limits: limitsView(world),
    rendertokens: world.rendertokens.state(),
    orders: ordersView(world),
    renders: rendersView(world),
    claims: claimsView(world),
    callbacks: callbacksView(world, callbacks.save()),
    stores: world.stores.save().map(({ reference, name, integration, callbackUrl }) => ({
      reference,
      name,
      integration,
      callbackUrl,
    })),
    products: productsView(world),
    automation: automationView(automation.options),
    next: nextView(emulation),
    marks,
    worlds: parallel?.names ?? [],
    faults: faultsView(faults.list()),
    checkpoints: checkpoints.names,
    exampleOrder: exampleOrder(world),
    calls: faults.calls,
  };
}
