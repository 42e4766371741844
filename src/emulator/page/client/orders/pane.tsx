import { signal } from "@preact/signals";
import { baseUrl, state } from "../live/store.ts";
import { curlOf } from "../requests/curl.ts";
import { Empty } from "../ui/empty.tsx";
import { More } from "../ui/more.tsx";
import { OrderCard } from "./card.tsx";

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
