import { useSignal } from "@preact/signals";
import type { CallbackView, StoreView } from "../view.ts";
import { act } from "./actions.ts";
import { count, dayAndTime, span, timeOfDay } from "./format.ts";
import { Ago, Button, Empty, More, Pill, Reference, type Tone } from "./parts.tsx";
import { state } from "./store.ts";

const tones: Readonly<Record<CallbackView["status"], Tone>> = { waiting: "warn", delivered: "good", stopped: "quiet" };

/** One callback with each try and its response. */
function CallbackCard({ callback }: { readonly callback: CallbackView }) {
  const { id, order, orderName, url, status, due, tried, tries } = callback;
  return (
    <article class="card" aria-label={`Callback of ${orderName}`}>
      <header class="card-head">
        <h3>{orderName}</h3>
        <Pill tone={tones[status]}>{status}</Pill>
      </header>
      <p class="card-facts">
        <Reference value={order} />
        <span>{tried === 1 ? "1 try" : `${count(tried)} tries`}</span>
        {due === null ? null : (
          <span>
            next try <Ago at={due} />
          </span>
        )}
      </p>
      <p class="target">GET {url}</p>
      <ol class="tries">
        {tries.map((one) => (
          <li key={one.at}>
            <time dateTime={new Date(one.at).toISOString()} title={dayAndTime(one.at)}>
              {timeOfDay(one.at)}
            </time>
            <span class={`status ${one.ok ? "good" : "bad"}`}>{one.outcome}</span>
            <span class="muted">{span(one.duration)}</span>
          </li>
        ))}
      </ol>
      <div class="actions">
        <Button onPress={() => act("callbacks.resend", { id }, "Sent the callback again")}>Send again</Button>
      </div>
    </article>
  );
}

function StoreUrl({ store }: { readonly store: StoreView }) {
  const { reference, name, callbackUrl } = store;
  const edited = useSignal<string>();
  const text = edited.value ?? callbackUrl ?? "";
  const save = async () => {
    const url = text.trim() === "" ? null : text.trim();
    const done = url === null ? `${name} sends no callbacks` : `${name} sends callbacks to ${url}`;
    if (await act("setCallbackUrl", { store: reference, url }, done)) edited.value = undefined;
  };
  return (
    <div class="row-form">
      <label class="field wide">
        <span>{name}</span>
        <input
          type="url"
          placeholder="http://127.0.0.1:3000/callbacks?token=…"
          value={text}
          onInput={({ currentTarget }) => {
            edited.value = currentTarget.value;
          }}
        />
      </label>
      <Button label={`Set the callback URL of ${name}`} disabled={text === (callbackUrl ?? "")} onPress={save}>
        Set
      </Button>
    </div>
  );
}

/** The callback URL of each store that accepts orders. */
function CallbackUrls() {
  const stores = state.value?.stores.filter(({ integration }) => integration === "api") ?? [];
  return (
    <section class="panel" aria-label="Callback URLs">
      <h3>Callback URL of each store</h3>
      {stores.map((store) => (
        <StoreUrl key={store.reference} store={store} />
      ))}
      <p class="muted">The emulator sends a GET to this URL when an order of the store ships. Empty turns it off.</p>
    </section>
  );
}

/** The callbacks with their tries, and the URLs that they go to. */
export function CallbacksPane() {
  const callbacks = state.value?.callbacks;
  if (callbacks === undefined) return null;
  return (
    <>
      <ul class="cards">
        {callbacks.items.map((callback) => (
          <li key={callback.id}>
            <CallbackCard callback={callback} />
          </li>
        ))}
      </ul>
      <More list={callbacks} noun="callbacks" />
      {callbacks.items.length > 0 ? null : (
        <Empty
          title="No callbacks"
          hint="Set the callback URL of a store, then ship one of its orders. Each try and its response appears here."
        />
      )}
      <CallbackUrls />
    </>
  );
}
