import type { ComponentChildren } from "preact";
import { CallbacksPane } from "../callbacks/pane.tsx";
import { ClaimsPane } from "../claims/pane.tsx";
import { FaultsPane } from "../faults/pane.tsx";
import { requests, state } from "../live/store.ts";
import { OrdersPane } from "../orders/pane.tsx";
import { RendersPane } from "../renders/pane.tsx";
import { RequestsPane } from "../requests/pane.tsx";
import { count } from "../ui/format.ts";
import { isNarrow } from "../ui/media.ts";
import { WorldPane } from "../world/pane.tsx";
import { chosen } from "./chosen.ts";

interface Tab {
  readonly name: string;
  readonly amount: () => number;
  readonly pane: () => ComponentChildren;
}

/** The list of requests is a tab of its own only in a narrow window; otherwise it is always visible. */
const requestsTab: Tab = { name: "Requests", amount: () => requests.value.length, pane: () => <RequestsPane /> };

const tabs: readonly Tab[] = [
  { name: "Orders", amount: () => state.value?.orders.total ?? 0, pane: () => <OrdersPane /> },
  { name: "Renders", amount: () => state.value?.renders.total ?? 0, pane: () => <RendersPane /> },
  { name: "Claims", amount: () => state.value?.claims.total ?? 0, pane: () => <ClaimsPane /> },
  { name: "Callbacks", amount: () => state.value?.callbacks.total ?? 0, pane: () => <CallbacksPane /> },
  { name: "Faults", amount: () => state.value?.faults.length ?? 0, pane: () => <FaultsPane /> },
  { name: "World", amount: () => 0, pane: () => <WorldPane /> },
];

/** Moves to the neighbour of a tab with the arrow keys. */
function move(event: KeyboardEvent, names: readonly string[], at: number): void {
  const steps: Readonly<Record<string, number>> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
  const to = steps[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const name = names.at(to % names.length) ?? "";
  chosen.value = name;
  document.getElementById(`tab-${name}`)?.focus();
}

export function Tabs() {
  const all = isNarrow.value ? [requestsTab, ...tabs] : tabs;
  const current = all.find(({ name }) => name === chosen.value) ?? all[0];
  const names = all.map(({ name }) => name);
  return (
    <div class="side">
      <div class="tabs" role="tablist" aria-label="Parts of the service">
        {all.map(({ name, amount }, position) => (
          <button
            key={name}
            type="button"
            id={`tab-${name}`}
            role="tab"
            class="tab"
            aria-selected={name === current?.name}
            aria-controls="panel"
            tabIndex={name === current?.name ? 0 : -1}
            onClick={() => {
              chosen.value = name;
            }}
            onKeyDown={(event) => move(event, names, position)}
          >
            {name}
            {amount() > 0 ? <span class="amount">{count(amount())}</span> : null}
          </button>
        ))}
      </div>
      <div
        id="panel"
        class={`pane ${current?.name === "Requests" ? "pane-list" : ""}`}
        role="tabpanel"
        aria-labelledby={`tab-${current?.name}`}
        tabIndex={-1}
      >
        {current?.pane()}
      </div>
    </div>
  );
}
