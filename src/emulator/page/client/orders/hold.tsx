import { useSignal } from "@preact/signals";
import type { OrderView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { Button } from "../ui/button.tsx";
import { nameOf } from "./name.ts";

/** The form that puts an order on hold. */
export function Hold({ order, onDone }: { readonly order: OrderView; readonly onDone: () => void }) {
  const reason = useSignal("The image has a low resolution");
  const hold = async () => {
    const input = { order: order.reference, reason: reason.value };
    if (await act("hold", input, `${nameOf(order)} is on hold`)) onDone();
  };
  return (
    <div class="form">
      <label class="field">
        <span>Reason</span>
        <input
          type="text"
          value={reason.value}
          onInput={({ currentTarget }) => {
            reason.value = currentTarget.value;
          }}
        />
      </label>
      <div class="actions">
        <Button kind="primary" onPress={hold}>
          Hold
        </Button>
        <Button onPress={onDone}>Back</Button>
      </div>
    </div>
  );
}
