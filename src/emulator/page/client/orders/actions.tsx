import { useSignal } from "@preact/signals";
import type { OrderView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { Button } from "../ui/button.tsx";
import { DerivedActions } from "../ui/derived-actions.tsx";
import { Hold } from "./hold.tsx";
import { nameOf } from "./name.ts";
import { isOpen } from "./open-quantity.ts";
import { ShipSome } from "./ship-some.tsx";

/** The controls with a button of their own. */
const own = ["ship", "startProduction", "hold", "release"];

interface Props {
  readonly order: OrderView;
  readonly onShip: () => void;
  readonly onHold: () => void;
}

function Buttons({ order, onShip, onHold }: Props) {
  const { reference, inProduction } = order;
  const name = nameOf(order);
  const held = order.onHold !== null;
  const ship = () => act("ship", { orders: reference }, `Shipped ${name}`);
  const produce = () => act("startProduction", { order: reference }, `${name} is in production`);
  const release = () => act("release", { order: reference }, `Released ${name}`);
  return (
    <div class="actions">
      <Button kind="tonal" label={`Ship all of ${name}`} disabled={held} onPress={ship}>
        Ship all
      </Button>
      <Button label={`Ship some of ${name}`} disabled={held} onPress={onShip}>
        Ship some…
      </Button>
      {inProduction ? null : (
        <Button label={`Start production of ${name}`} onPress={produce}>
          Start production
        </Button>
      )}
      {held ? (
        <Button label={`Release ${name}`} onPress={release}>
          Release
        </Button>
      ) : (
        <Button label={`Hold ${name}`} onPress={onHold}>
          Hold…
        </Button>
      )}
      <DerivedActions on="order" reference={reference} except={own} />
    </div>
  );
}

/** What the operator can do with an open order. */
export function Actions({ order }: { readonly order: OrderView }) {
  const form = useSignal<"ship" | "hold">();
  const show = (name: "ship" | "hold" | undefined) => () => {
    form.value = name;
  };
  if (!isOpen(order)) return null;
  if (form.value === "ship") return <ShipSome order={order} onDone={show(undefined)} />;
  if (form.value === "hold") return <Hold order={order} onDone={show(undefined)} />;
  return <Buttons order={order} onShip={show("ship")} onHold={show("hold")} />;
}
