import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { dismiss, notice } from "./actions.ts";
import { CallbacksPane } from "./callbacks.tsx";
import { CataloguePane } from "./catalogue.tsx";
import { ClaimsPane } from "./claims.tsx";
import { FaultsPane } from "./faults.tsx";
import { count } from "./format.ts";
import { Gauges } from "./gauges.tsx";
import { GoneBanner, Header } from "./header.tsx";
import { isNarrow, isScrolled } from "./hooks.ts";
import { chosen, opened, openTab, type TabName, tabs, visited } from "./location.ts";
import { isOpen, OrdersPane } from "./orders.tsx";
import { Button, Lightbox, Linked } from "./parts.tsx";
import { RendersPane } from "./renders.tsx";
import { Details } from "./request-details.tsx";
import { RequestsPane } from "./requests.tsx";
import { requests, state } from "./store.ts";
import { WorldPane } from "./world.tsx";

/** The result of the last button. Screen readers read it, too. */
function Notice() {
  const current = notice.value;
  return (
    <div class="notice-place" role="status" aria-live="polite">
      {current === undefined ? null : (
        <div class={`notice ${current.bad ? "bad" : ""}`}>
          <span>
            <Linked text={current.text} />
          </span>
          <Button kind="quiet" label="Dismiss" onPress={dismiss}>
            ✕
          </Button>
        </div>
      )}
    </div>
  );
}

const panes: Readonly<Record<TabName, () => ComponentChildren>> = {
  Requests: () => <RequestsPane />,
  Orders: () => <OrdersPane />,
  Renders: () => <RendersPane />,
  Claims: () => <ClaimsPane />,
  Callbacks: () => <CallbacksPane />,
  Catalogue: () => <CataloguePane />,
  Faults: () => <FaultsPane />,
  World: () => <WorldPane />,
};

/** What waits for the reader in a tab, among the newest records. */
function waiting(name: TabName): number {
  if (name === "Requests") return requests.value.length;
  const { orders, renders, claims, callbacks, faults } = state.value ?? {};
  switch (name) {
    case "Orders":
      return orders?.items.filter(isOpen).length ?? 0;
    case "Renders":
      return renders?.items.filter(({ status }) => status === "pending").length ?? 0;
    case "Claims":
      return claims?.items.filter(({ status }) => status === "pending").length ?? 0;
    case "Callbacks":
      return callbacks?.items.filter(({ status }) => status === "waiting").length ?? 0;
    case "Faults":
      return faults?.filter(({ isSpent }) => !isSpent).length ?? 0;
    default:
      return 0;
  }
}

/** What the number of a tab counts. */
const counted: Readonly<Partial<Record<TabName, string>>> = {
  Orders: "open",
  Renders: "pending",
  Claims: "pending",
  Callbacks: "waiting",
  Faults: "armed",
};

/** Moves to the neighbour of a tab with the arrow keys. */
function moveTab(event: KeyboardEvent, names: readonly TabName[], at: number): void {
  const steps: Readonly<Record<string, number>> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
  const to = steps[event.key];
  const name = to === undefined ? undefined : names.at(to % names.length);
  if (name === undefined) return;
  event.preventDefault();
  openTab(name);
  document.getElementById(`tab-${name}`)?.focus();
}

/** How far each tab is scrolled. */
const scrolled = new Map<TabName, number>();

function Tabs({ inert }: { readonly inert: boolean }) {
  const names: readonly TabName[] = isNarrow.value ? ["Requests", ...tabs] : tabs;
  const current = chosen.value;
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (visited.value === undefined) panel.current?.scrollTo({ top: scrolled.get(current) ?? 0 });
  }, [current]);
  return (
    <div class="side" inert={inert}>
      <div class="tabs" role="tablist" aria-label="Parts of the service">
        {names.map((name, position) => (
          <button
            key={name}
            type="button"
            id={`tab-${name}`}
            role="tab"
            class="tab"
            aria-selected={name === current}
            aria-controls="panel"
            tabIndex={name === current ? 0 : -1}
            onClick={() => openTab(name)}
            onKeyDown={(event) => moveTab(event, names, position)}
          >
            {name}
            {waiting(name) > 0 ? (
              <span class="amount" title={`${waiting(name)} ${counted[name] ?? ""}`}>
                {count(waiting(name))}
              </span>
            ) : null}
          </button>
        ))}
      </div>
      <div
        id="panel"
        ref={panel}
        class={`pane ${current === "Requests" ? "pane-list" : ""}`}
        role="tabpanel"
        aria-labelledby={`tab-${current}`}
        tabIndex={-1}
        onScroll={({ currentTarget: { scrollTop } }) => {
          scrolled.set(current, scrollTop);
          isScrolled.value = scrollTop > 0;
        }}
      >
        {panes[current]()}
      </div>
    </div>
  );
}

/** The part of the width that the requests take, in percent. The browser remembers it. */
const remembered = "pod-partner-emulator-split";
const split = signal(55);

/** The browser can refuse its storage: then the width is that of the start each time. */
function withStorage(work: (storage: Storage) => void): void {
  try {
    work(localStorage);
  } catch {}
}

withStorage((storage) => {
  split.value = Number(storage.getItem(remembered)) || split.value;
});

function setSplit(percent: number): void {
  split.value = Math.round(Math.max(30, Math.min(65, percent)));
  withStorage((storage) => storage.setItem(remembered, String(split.value)));
}

/** The line between the requests and the service: it can be dragged, and moved with the arrow keys. */
function Divider() {
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -2, ArrowRight: 2, Home: -100, End: 100 };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved has no element of its own.
    <div
      class="divider"
      role="separator"
      aria-label="Width of the requests"
      aria-orientation="vertical"
      aria-valuenow={split.value}
      aria-valuemin={30}
      aria-valuemax={65}
      tabIndex={0}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={({ currentTarget, pointerId, clientX }) => {
        if (currentTarget.hasPointerCapture(pointerId)) setSplit((100 * clientX) / innerWidth);
      }}
      onKeyDown={({ key }) => setSplit(split.value + (steps[key] ?? 0))}
    />
  );
}

/** The page: what the client did at the left, the service at the right. An opened request covers the service. */
export function App() {
  const id = opened.value;
  const covered = id !== undefined;
  return (
    <>
      <GoneBanner />
      <Header inert={covered && isNarrow.value} />
      <Gauges inert={covered && isNarrow.value} />
      <main class="columns" style={{ "--split": `${split.value}%` }}>
        {isNarrow.value ? null : (
          <>
            <section class="list" aria-label="Requests">
              <RequestsPane />
            </section>
            <Divider />
          </>
        )}
        <div class="right">
          <Tabs inert={covered} />
          {covered ? <Details id={id} /> : null}
        </div>
      </main>
      <Lightbox />
      <Notice />
    </>
  );
}
