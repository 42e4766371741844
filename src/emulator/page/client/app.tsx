import type { ComponentChildren } from "preact";
import { dismiss, notice } from "./actions.ts";
import { CallbacksPane } from "./callbacks.tsx";
import { ClaimsPane } from "./claims.tsx";
import { FaultsPane } from "./faults.tsx";
import { count } from "./format.ts";
import { Gauges } from "./gauges.tsx";
import { Header } from "./header.tsx";
import { isNarrow } from "./hooks.ts";
import { OrdersPane } from "./orders.tsx";
import { Button } from "./parts.tsx";
import { RendersPane } from "./renders.tsx";
import { Details } from "./request-details.tsx";
import { RequestsPane } from "./requests.tsx";
import { chosen, opened, requests, state } from "./store.ts";
import { WorldPane } from "./world.tsx";

/** The result of the last button. Screen readers read it, too. */
function Notice() {
  const current = notice.value;
  return (
    <div class="notice-place" role="status" aria-live="polite">
      {current === undefined ? null : (
        <div class={`notice ${current.bad ? "bad" : ""}`}>
          <span>{current.text}</span>
          <Button kind="quiet" label="Dismiss" onPress={dismiss}>
            ✕
          </Button>
        </div>
      )}
    </div>
  );
}

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

function Tabs() {
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

/** The page: what the client did at the left, the service at the right. An opened request covers the service. */
export function App() {
  const id = opened.value;
  return (
    <>
      <Header />
      <Gauges />
      <main class="columns">
        {isNarrow.value ? null : (
          <section class="list" aria-label="Requests">
            <RequestsPane />
          </section>
        )}
        <div class="right">
          <Tabs />
          {id === undefined ? null : <Details id={id} />}
        </div>
      </main>
      <Notice />
    </>
  );
}
