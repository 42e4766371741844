import type { Emulation } from "../../emulation/emulation.ts";
import type { World } from "../../state/world.ts";
import { callbacksView } from "./callbacks.ts";
import { claimsView } from "./claims.ts";
import { faultsView } from "./faults.ts";
import { limitsView } from "./limits.ts";
import { ordersView } from "./orders.ts";
import { rendersView } from "./renders.ts";
import type { PageState } from "./view.ts";

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
export function overview(emulation: Emulation, name?: string | null): PageState {
  const { clock, settings, faults, callbacks, checkpoints, worlds } = emulation;
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
    faults: faultsView(faults.list()),
    checkpoints: checkpoints.names,
    exampleOrder: exampleOrder(world),
    calls: faults.calls,
  };
}
