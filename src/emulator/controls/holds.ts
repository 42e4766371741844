import { reference } from "../../references/schema.ts";
import { filledText } from "../../schemas/shape.ts";
import { control } from "./control.ts";
import { find } from "./find.ts";
import { goOn } from "./order-steps.ts";

export const holdControls = {
  hold: control({
    about: "Puts the production of an order on hold.",
    on: "order",
    required: ["order", "reason"],
    fields: () => ({ order: reference("Order"), reason: filledText() }),
    run: (emulation, { order, reason }) => {
      find(emulation, "orders", order).record.onHold = { reason };
    },
  }),
  release: control({
    about: "Ends the hold of an order. A step that became due during the hold happens now.",
    on: "order",
    required: ["order"],
    fields: () => ({ order: reference("Order") }),
    run: (emulation, { order: reference }) => {
      const { record: order } = find(emulation, "orders", reference);
      order.onHold = null;
      goOn(emulation, order);
    },
  }),
};
