import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { LineView, Listed, OrderView } from "../view.ts";
import { act, attempt, notify } from "./actions.ts";
import { curlOf } from "./curl.ts";
import { plural, words } from "./format.ts";
import { useSteady } from "./hooks.ts";
import { visited } from "./location.ts";
import {
  Ago,
  Button,
  Card,
  Chips,
  DerivedActions,
  Disclosure,
  Empty,
  Form,
  Fresh,
  More,
  NotHere,
  Pill,
  Reference,
  type Tone,
} from "./parts.tsx";
import { baseUrl, state } from "./store.ts";
import { refresh, run } from "./stream.ts";

/** The name that the reader knows an order by. */
const nameOf = ({ customIdentifier, legacyOrderCode }: OrderView): string => customIdentifier ?? legacyOrderCode;

/** The quantity of a line that is neither shipped nor canceled. */
const openQuantity = ({ quantity, shipped, canceled }: LineView): number => quantity - shipped - canceled;

export const isOpen = ({ lines }: OrderView): boolean => lines.some((line) => openQuantity(line) > 0);

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

/** All lines in one: `3 × Slim case, 1 × Tough case: 2 shipped, 2 open`. */
function summaryOf(lines: readonly LineView[]): string {
  const sum = (of: (line: LineView) => number) => lines.reduce((total, line) => total + of(line), 0);
  const total = {
    index: 0,
    product: "",
    quantity: sum(({ quantity }) => quantity),
    shipped: sum(({ shipped }) => shipped),
    canceled: sum(({ canceled }) => canceled),
  };
  const names = lines.map(({ quantity, product }) => `${quantity} × ${product}`).join(", ");
  const done = progress(total);
  return done === "" ? names : `${names}: ${done}`;
}

/** The categories of a claim, as a seed names them. */
const categories = [
  ["damaged", "damaged in transit"],
  ["misprint", "misprint"],
  ["wrongItem", "wrong item"],
  ["packageMissing", "package missing"],
] as const;

/** The form that files a claim about a shipment, as the partner would. */
function FileClaim({ shipment, onDone }: { readonly shipment: string; readonly onDone: () => void }) {
  const category = useSignal<string>(categories[0][0]);
  const comment = useSignal("");
  const file = async () => {
    const about = category.value === "packageMissing" ? {} : { comment: comment.value };
    const claim = { shipment, category: category.value, ...about };
    const done = ({ claims: [filed] }: { readonly claims: readonly string[] }) => `Filed ${filed}`;
    if (await act("seed", { claims: [claim] }, done)) onDone();
  };
  return (
    <Form onSubmit={file} onCancel={onDone}>
      <label class="field">
        <span>What is wrong</span>
        <select
          value={category.value}
          onChange={({ currentTarget }) => {
            category.value = currentTarget.value;
          }}
        >
          {categories.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {category.value === "packageMissing" ? null : (
        <label class="field">
          <span>Comment</span>
          <input
            type="text"
            placeholder="Optional"
            value={comment.value}
            onInput={({ currentTarget }) => {
              comment.value = currentTarget.value;
            }}
          />
        </label>
      )}
      <div class="actions">
        <Button kind="primary" onPress={file}>
          File the claim
        </Button>
        <Button onPress={onDone}>Back</Button>
      </div>
    </Form>
  );
}

function Shipments({ order }: { readonly order: OrderView }) {
  const claimed = useSignal<string>();
  const closed = useSignal<string>();
  if (order.shipments.length === 0) return null;
  if (claimed.value !== undefined) {
    const shipment = claimed.value;
    const close = () => {
      closed.value = shipment;
      claimed.value = undefined;
    };
    return <FileClaim shipment={shipment} onDone={close} />;
  }
  return (
    <ul class="lines" aria-label="Shipments">
      {order.shipments.map(({ reference, units, carrier, trackingNumber, shipped }) => (
        <li key={reference}>
          <Reference value={reference} />
          <span>{plural(units, "unit")}</span>
          <span>{carrier === null ? "without tracking" : `${carrier} ${trackingNumber}`}</span>
          <span class="muted product">
            <Ago at={shipped} />
          </span>
          <Button
            label={`File a claim about ${reference}`}
            focused={closed.value === reference}
            onPress={() => {
              claimed.value = reference;
            }}
          >
            File a claim…
          </Button>
        </li>
      ))}
    </ul>
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
    <Form onSubmit={hold} onCancel={onDone}>
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
    </Form>
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
    if (lines.length === 0) return;
    const sum = lines.reduce((total, { quantity }) => total + quantity, 0);
    const done = (shipment: string) => `Shipped ${sum} of ${nameOf(order)} as ${shipment}`;
    if (await act("ship", { orders: order.reference, lines }, done)) onDone();
  };
  return (
    <Form onSubmit={ship} onCancel={onDone}>
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
    </Form>
  );
}

/** The controls with a button of their own. */
const own = ["ship", "startProduction", "hold", "release"];

/** What the operator can do with an open order, besides shipping all of it. */
function Actions({ order }: { readonly order: OrderView }) {
  const form = useSignal<"ship" | "hold">();
  /** The form that was closed: its button takes the focus again. */
  const closed = useSignal<"ship" | "hold">();
  const close = () => {
    closed.value = form.value;
    form.value = undefined;
  };
  if (form.value === "ship") return <ShipSome order={order} onDone={close} />;
  if (form.value === "hold") return <Hold order={order} onDone={close} />;
  const { reference, inProduction } = order;
  const name = nameOf(order);
  const held = order.onHold !== null;
  return (
    <div class="actions">
      <Button
        label={`Ship some of ${name}`}
        disabled={held}
        focused={closed.value === "ship"}
        onPress={() => {
          form.value = "ship";
        }}
      >
        Ship some…
      </Button>
      {inProduction ? null : (
        <Button
          label={`Start production of ${name}`}
          disabled={held}
          onPress={() => act("startProduction", { order: reference }, `${name} is in production`)}
        >
          Start production
        </Button>
      )}
      {held ? (
        <Button label={`Release ${name}`} onPress={() => act("release", { order: reference }, `Released ${name}`)}>
          Release
        </Button>
      ) : (
        <Button
          label={`Hold ${name}`}
          focused={closed.value === "hold"}
          onPress={() => {
            form.value = "hold";
          }}
        >
          Hold…
        </Button>
      )}
      <DerivedActions on="order" reference={reference} except={own} />
    </div>
  );
}

const tones: Readonly<Record<string, Tone>> = {
  received: "busy",
  in_production: "busy",
  partially_shipped: "warn",
  shipped: "good",
  canceled: "quiet",
};

/** One order: its name, its state, its lines and its buttons. The rest is shown on demand. */
function OrderCard({ order }: { readonly order: OrderView }) {
  const isExpanded = useSignal(false);
  const name = nameOf(order);
  const ship = () => act("ship", { orders: order.reference }, (shipment: string) => `Shipped ${name} as ${shipment}`);
  const latest = order.shipments.at(-1);
  return (
    <Card
      reference={order.reference}
      also={order.shipments.map(({ reference }) => reference)}
      label={`Order ${name}`}
      kind="compact"
      onVisit={() => {
        isExpanded.value = true;
      }}
    >
      <header class="card-head">
        <h3>
          <Disclosure
            name={name}
            open={isExpanded.value}
            onToggle={() => {
              isExpanded.value = !isExpanded.value;
            }}
          />
        </h3>
        <span class="card-summary">{summaryOf(order.lines)}</span>
        {order.onHold === null ? null : (
          <Pill tone="warn" title={order.onHold}>
            on hold
          </Pill>
        )}
        <Pill tone={tones[order.status] ?? "quiet"}>{words(order.status)}</Pill>
        {isOpen(order) ? (
          <Button kind="tonal" label={`Ship all of ${name}`} disabled={order.onHold !== null} onPress={ship}>
            Ship all
          </Button>
        ) : null}
      </header>
      <p class="card-facts">
        <Reference value={order.reference} />
        <span>{order.store}</span>
        <span>{order.shippingKind}</span>
        <Ago at={order.created} />
        {order.settles === null ? null : (
          <span>
            replaces <Reference value={order.settles} />
          </span>
        )}
        {order.onHold === null ? null : <span class="reason-text">On hold: {order.onHold}</span>}
        {latest === undefined ? null : (
          <span>
            in <Reference value={latest.reference} />
          </span>
        )}
      </p>
      {isExpanded.value ? (
        <>
          <Lines lines={order.lines} />
          <Shipments order={order} />
        </>
      ) : null}
      {isExpanded.value && isOpen(order) ? <Actions order={order} /> : null}
    </Card>
  );
}

const text = signal("");
const all = "all";
const chosen = signal(all);

/** The values of the filter. */
const filters: Readonly<Record<string, (order: OrderView) => boolean>> = {
  [all]: () => true,
  open: isOpen,
  "on hold": ({ onHold }) => onHold !== null,
  "in production": ({ status }) => status === "in_production",
  shipped: ({ status }) => status === "shipped",
  canceled: ({ status }) => status === "canceled",
};

const matches = (order: OrderView): boolean => filters[chosen.value]?.(order) ?? true;

function Filters({ orders }: { readonly orders: readonly OrderView[] }) {
  const values = Object.entries(filters)
    .map(([value, isShown]) => [value, orders.filter(isShown).length] as const)
    .filter(([value, found]) => found > 0 || value === all || value === chosen.value);
  return (
    <Chips
      label="Show orders"
      chosen={chosen.value}
      values={values}
      onChoose={(value) => {
        chosen.value = value;
      }}
    />
  );
}

const hasOlderThan = ({ items, total }: Listed<OrderView>): boolean => total > items.length;

/** Ships every open order that is not on hold, one after the other. */
const shipAll = (orders: readonly OrderView[]): Promise<boolean> =>
  attempt(async () => {
    let refused = 0;
    for (const [position, { reference }] of orders.entries()) {
      notify(`Shipping ${position + 1} of ${orders.length}`);
      await run("ship", { orders: reference }).catch(() => {
        refused += 1;
      });
    }
    await refresh();
    const older = state.value !== undefined && hasOlderThan(state.value.orders);
    return `Shipped ${plural(orders.length - refused, "order")}${refused === 0 ? "" : `; ${refused} cannot ship`}${older ? "; older orders are not shown here" : ""}`;
  });

/** Adds an order to the first store that accepts orders, as a partner would place one. */
function AddOrder() {
  const store = state.value?.stores.find(({ integration }) => integration === "api")?.reference;
  const customIdentifier = `page-${(state.value?.orders.total ?? 0) + 1}`;
  const add = () => act("seed", { orders: [{ store, customIdentifier }] }, `Added the order ${customIdentifier}`);
  return (
    <Button disabled={store === undefined} onPress={add}>
      Add an order
    </Button>
  );
}

/** The newest orders, each with its lines and what the operator can do with it. */
export function OrdersPane() {
  const orders = state.value?.orders;
  const word = text.value.toLowerCase();
  const found = (orders?.items ?? []).filter(
    (order) =>
      matches(order) &&
      [order.reference, order.customIdentifier, order.legacyOrderCode, order.store]
        .join(" ")
        .toLowerCase()
        .includes(word),
  );
  const visit = visited.value;
  useEffect(() => {
    // A link leads to its card, whatever the filter says.
    if (visit !== undefined) [text.value, chosen.value] = ["", all];
  }, [visit]);
  const { shown, fresh, show, listProps } = useSteady(found, ({ reference }) => reference);
  if (orders === undefined) return null;
  const example = state.value?.exampleOrder ?? null;
  if (orders.items.length === 0)
    return (
      <>
        <Empty
          title="No orders"
          hint="Place one with the SDK's orders.ensure, or paste this line. It appears here at once, and you ship it with a click."
          {...(example === null ? {} : { line: curlOf(`${baseUrl.value}/orders`, example) })}
        />
        <div class="actions centred">
          <AddOrder />
        </div>
      </>
    );
  const ready = orders.items.filter((order) => isOpen(order) && order.onHold === null);
  const hasOlder = hasOlderThan(orders);
  const known = orders.items.flatMap(({ reference, shipments }) => [
    reference,
    ...shipments.map((shipment) => shipment.reference),
  ]);
  return (
    <>
      <div class="pane-bar">
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
        <AddOrder />
        {ready.length === 0 ? null : (
          <Button onPress={() => shipAll(ready)}>
            Ship {hasOlder ? "the" : "all"} {ready.length} open{hasOlder ? ` of the newest ${orders.items.length}` : ""}
          </Button>
        )}
      </div>
      <Filters orders={orders.items} />
      <NotHere known={known} noun="orders" />
      <div class="steady" {...listProps}>
        <Fresh amount={fresh} noun="order" onShow={show} />
        <ul class="cards tight">
          {shown.map((order) => (
            <li key={order.reference}>
              <OrderCard order={order} />
            </li>
          ))}
        </ul>
      </div>
      {found.length === 0 ? <Empty title="No order matches" hint="Only the newest orders are searched." /> : null}
      <More list={orders} noun="orders" />
    </>
  );
}
