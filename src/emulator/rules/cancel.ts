import type { Cancellation } from "../../resources/orders/orders.schema.ts";
import { known, Problem } from "../core/problem.ts";
import type { StoredLine, StoredOrder } from "../records/records.ts";
import type { World } from "../state/world.ts";

/** Throws if the line cannot have this many canceled. */
const checkQuantity = (line: StoredLine, canceledQuantity: number): void => {
  if (canceledQuantity < line.canceledQuantity) {
    const message = `Line ${line.index} has ${line.canceledQuantity} canceled already; got the lower ${canceledQuantity}`;
    throw new Problem("canceled_quantity_below_current", message);
  }
  const shippable = line.quantity - line.shippedQuantity;
  if (canceledQuantity > shippable) {
    const message = `Line ${line.index} can have at most ${shippable} canceled; got ${canceledQuantity}`;
    throw new Problem("canceled_quantity_exceeds_shippable", message);
  }
};

/** Cancels lines by absolute quantity. Cancels either all of them or none (specification 4.7, cancel rules). */
export function cancelLines(world: World, order: StoredOrder, cancellations: readonly Cancellation[]): void {
  if (new Set(cancellations.map(({ index }) => index)).size < cancellations.length) {
    throw new Problem("unknown_input_error", "A line is given more than once");
  }
  const wanted = cancellations.map(({ index, canceledQuantity }) => ({
    line: known(
      order.lines.find((line) => line.index === index),
      `Line ${index} of the order`,
    ),
    canceledQuantity,
  }));
  // Rule 2 wins over rule 4: a request that changes nothing succeeds even in production, so that a lost response can be retried.
  if (wanted.every(({ line, canceledQuantity }) => line.canceledQuantity === canceledQuantity)) return;
  if (order.inProduction) throw new Problem("already_in_production", "The order is in production");
  for (const { line, canceledQuantity } of wanted) checkQuantity(line, canceledQuantity);
  for (const { line, canceledQuantity } of wanted) line.canceledQuantity = canceledQuantity;
  if (order.postponed === null) return;
  // The order may have waited for the launch of what is canceled now.
  world.agenda.add(world.now(), order.postponed);
  order.postponed = null;
}
