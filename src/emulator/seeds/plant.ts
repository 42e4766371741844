import { ControlError } from "../core/control-error.ts";
import { Problem } from "../core/problem.ts";
import type { Emulation } from "../emulation/emulation.ts";
import { sampleImage } from "../pictures/sample-image.ts";
import { addEvidence } from "../rules/evidence.ts";
import { addImage } from "../rules/images.ts";
import type { Planted, SeedRecords } from "../settings/planted.ts";
import { generateOrders } from "./generated-orders.ts";
import { plantOrder } from "./plant-order.ts";
import { plantProduct } from "./plant-product.ts";

/** Says which entry of the list is wrong. */
function at<Value>(place: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Problem || error instanceof ControlError)) throw error;
    throw new ControlError(`${place}: ${error.message}`, [{ path: [place], message: error.message }]);
  }
}

/** Adds the records of a seed. Throws a {@link ControlError} for an entry that the rules of the service do not allow. */
export function plant(
  emulation: Emulation,
  { products = [], orders = [], images = [], evidence = [] }: SeedRecords,
): Planted {
  const [world] = emulation.worlds;
  const added = products.map((product, position) =>
    at(`products[${position}]`, () => plantProduct(emulation, product)),
  );
  const generated = typeof orders === "number" ? generateOrders(world, orders) : [];
  const described = typeof orders === "number" ? [] : orders;
  return {
    products: added,
    orders: [
      ...generated.map(({ reference }) => ({ reference, shipments: [] })),
      ...described.map((order, position) => at(`orders[${position}]`, () => plantOrder(emulation, order))),
    ],
    images: images.map((name) => addImage(world, name).reference),
    evidence: evidence.map((name) => addEvidence(world, sampleImage(name)).reference),
  };
}
