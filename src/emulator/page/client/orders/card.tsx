import type { OrderView } from "../../overview/view.ts";
import { Ago } from "../ui/ago.tsx";
import { words } from "../ui/format.ts";
import { Pill, type Tone } from "../ui/pill.tsx";
import { Reference } from "../ui/reference.tsx";
import { Actions } from "./actions.tsx";
import { Lines } from "./lines.tsx";
import { nameOf } from "./name.ts";

const tones: Readonly<Record<string, Tone>> = {
  received: "busy",
  in_production: "busy",
  partially_shipped: "warn",
  shipped: "good",
  canceled: "quiet",
};

/** One order: its name, its state, its lines and its buttons. */
export function OrderCard({ order }: { readonly order: OrderView }) {
  return (
    <article class="card" aria-label={`Order ${nameOf(order)}`}>
      <header class="card-head">
        <h3>{nameOf(order)}</h3>
        {order.onHold === null ? null : (
          <Pill tone="warn" title={order.onHold}>
            on hold
          </Pill>
        )}
        <Pill tone={tones[order.status] ?? "quiet"}>{words(order.status)}</Pill>
      </header>
      <p class="card-facts">
        <Reference value={order.reference} />
        <span>{order.store}</span>
        <span>{order.shippingKind}</span>
        {order.settles === null ? null : <span>replacement</span>}
        <Ago at={order.created} />
      </p>
      {order.onHold === null ? null : <p class="reason">On hold: {order.onHold}</p>}
      <Lines lines={order.lines} />
      <Actions order={order} />
    </article>
  );
}
