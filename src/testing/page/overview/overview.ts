import type { Emulation } from "../../emulation.ts";
import type { World } from "../../state/world.ts";
import type { PageState } from "../view.ts";
import { callbacksView } from "./callbacks.ts";
import { claimsView } from "./claims.ts";
import { faultsView } from "./faults.ts";
import { limitsView } from "./limits.ts";
import { ordersView } from "./orders.ts";
import { rendersView } from "./renders.ts";

/** An order that needs neither an address nor an image. */
const exampleOrder = ({ demo }: World) => ({
  order: {
    storeReference: demo.stores.wholesale,
    shippingKind: "combined",
    orderlines: [{ productReference: demo.products.screenProtector, quantity: 1 }],
  },
});

/** What the page shows of the emulated service. The lists have only the newest records, so that its size is bounded. */
export function overview({ clock, settings, faults, callbacks, checkpoints, worlds: [world] }: Emulation): PageState {
  return {
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
