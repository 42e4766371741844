import { signal, useSignal } from "@preact/signals";
import type { LineView, OrderView } from "../view.ts";
import { act } from "./actions.ts";
import { curlOf } from "./curl.ts";
import { words } from "./format.ts";
import { Ago, Button, DerivedActions, Empty, More, Pill, Reference, type Tone } from "./parts.tsx";
import { baseUrl, state } from "./store.ts";

/** The name that the reader knows an order by. */
const nameOf = ({ customIdentifier, legacyOrderCode }: OrderView): string => customIdentifier ?? legacyOrderCode;

/** The quantity of a line that is neither shipped nor canceled. */
const openQuantity = ({ quantity, shipped, canceled }: LineView): number => quantity - shipped - canceled;

const isOpen = ({ lines }: OrderView): boolean => lines.some((line) => openQuantity(line) > 0);

/** What has happened to a line, in words. */
function progress(line: LineView): string {
  if (openQuantity(line) === line.quantity) return "";
  const parts = [
    ...(line.shipped > 0 ? [`${line.shipped} shipped`] : []),
    ...(line.canceled > 0 ? [`${line.canceled} canceled`] : []),
    ...(openQuantity(line) > 0 ? [`${openQuantity(line)} open`] : []),
  ];
  return parts.join(", ");
}

function Lines({ lines }: { readonly lines: readonly LineView[] }) {
  return (
    <ol class="lines">
      {lines.map((line) => (
        <li key={line.index}>
          <span class="quantity">{line.quantity} ×</span>
          <span class="product">{line.product}</span>
          <span class="muted">{progress(line)}</span>
        </li>
      ))}
    </ol>
  );
}

/** The form that puts an order on hold. */
function Hold({ order, onDone }: { readonly order: OrderView; readonly onDone: () => void }) {
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

/** The form that ships a part of an order. */
function ShipSome({ order, onDone }: { readonly order: OrderView; readonly onDone: () => void }) {
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

/** The controls with a button of their own. */
const own = ["ship", "startProduction", "hold", "release"];

interface OrderButtonsProps {
  readonly order: OrderView;
  readonly onShip: () => void;
  readonly onHold: () => void;
}

function Buttons({ order, onShip, onHold }: OrderButtonsProps) {
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
function Actions({ order }: { readonly order: OrderView }) {
  const form = useSignal<"ship" | "hold">();
  const show = (name: "ship" | "hold" | undefined) => () => {
    form.value = name;
  };
  if (!isOpen(order)) return null;
  if (form.value === "ship") return <ShipSome order={order} onDone={show(undefined)} />;
  if (form.value === "hold") return <Hold order={order} onDone={show(undefined)} />;
  return <Buttons order={order} onShip={show("ship")} onHold={show("hold")} />;
}

const tones: Readonly<Record<string, Tone>> = {
  received: "busy",
  in_production: "busy",
  partially_shipped: "warn",
  shipped: "good",
  canceled: "quiet",
};

/** One order: its name, its state, its lines and its buttons. */
function OrderCard({ order }: { readonly order: OrderView }) {
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

const text = signal("");

/** The newest orders, each with its lines and what the operator can do with it. */
export function OrdersPane() {
  const orders = state.value?.orders;
  if (orders === undefined) return null;
  const example = state.value?.exampleOrder ?? null;
  if (orders.items.length === 0)
    return (
      <Empty
        title="No orders"
        hint="Place one with the SDK's orders.ensure, or paste this line. It appears here at once, and you ship it with a click."
        {...(example === null ? {} : { line: curlOf(`${baseUrl.value}/orders`, example) })}
      />
    );
  const word = text.value.toLowerCase();
  const found = orders.items.filter(({ reference, customIdentifier, legacyOrderCode, store }) =>
    [reference, customIdentifier, legacyOrderCode, store].join(" ").toLowerCase().includes(word),
  );
  return (
    <>
      <input
        type="search"
        class="filter"
        placeholder="Find by identifier, reference or store"
        aria-label="Find an order"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      <ul class="cards">
        {found.map((order) => (
          <li key={order.reference}>
            <OrderCard order={order} />
          </li>
        ))}
      </ul>
      {found.length === 0 ? <Empty title="No order matches" hint="Only the newest orders are searched." /> : null}
      <More list={orders} noun="orders" />
    </>
  );
}
