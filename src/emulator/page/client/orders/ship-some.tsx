import { useSignal } from "@preact/signals";
import type { OrderView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { Button } from "../ui/button.tsx";
import { nameOf } from "./name.ts";
import { openQuantity } from "./open-quantity.ts";

/** The form that ships a part of an order. */
export function ShipSome({ order, onDone }: { readonly order: OrderView; readonly onDone: () => void }) {
  const open = order.lines.filter((line) => openQuantity(line) > 0);
  const chosen = useSignal<Readonly<Record<number, number>>>({});
  const lines = open
    .map(({ index }) => ({ index, quantity: chosen.value[index] ?? 0 }))
    .filter(({ quantity }) => quantity > 0);
  const ship = async () => {
    const sum = lines.reduce((total, { quantity }) => total + quantity, 0);
    if (await act("ship", { orders: order.reference, lines }, `Shipped ${sum} of ${nameOf(order)}`)) onDone();
  };
  return (
    <div class="form">
      {open.map((line) => (
        <label key={line.index} class="field inline">
          <span>
            {line.product} <span class="muted">of {openQuantity(line)}</span>
          </span>
          <input
            type="number"
            min={0}
            max={openQuantity(line)}
            value={chosen.value[line.index] ?? 0}
            onInput={({ currentTarget }) => {
              chosen.value = { ...chosen.value, [line.index]: Number(currentTarget.value) };
            }}
          />
        </label>
      ))}
      <div class="actions">
        <Button kind="primary" disabled={lines.length === 0} onPress={ship}>
          Ship these
        </Button>
        <Button onPress={onDone}>Back</Button>
      </div>
    </div>
  );
}
