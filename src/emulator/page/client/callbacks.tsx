import { useSignal } from "@preact/signals";
import type { CallbackView, StoreView, TryView } from "../view.ts";
import { act } from "./actions.ts";
import { count, dayAndTime, span, timeOfDay } from "./format.ts";
import { useSteady } from "./hooks.ts";
import { Ago, Button, Card, Disclosure, Empty, Fresh, More, Pill, Reference, type Tone } from "./parts.tsx";
import { state } from "./store.ts";

const tones: Readonly<Record<CallbackView["status"], Tone>> = { waiting: "warn", delivered: "good", stopped: "quiet" };

function Try({ one }: { readonly one: TryView }) {
  return (
    <li>
      <time dateTime={new Date(one.at).toISOString()} title={dayAndTime(one.at)}>
        {timeOfDay(one.at)}
      </time>
      <span class={`status ${one.ok ? "good" : "bad"}`}>{one.outcome}</span>
      <span class="muted">{span(one.duration)}</span>
      {one.body === null || one.body === "" ? null : <code class="try-body">{one.body}</code>}
    </li>
  );
}

/** The parameters of the callback's URL. */
function Parameters({ url }: { readonly url: string }) {
  return (
    <table class="headers" aria-label="Parameters">
      <tbody>
        {Array.from(new URL(url).searchParams, ([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** One callback with its latest try. The others and the parameters are shown on demand. */
function CallbackCard({ callback }: { readonly callback: CallbackView }) {
  const { id, order, orderName, url, status, due, tried, tries } = callback;
  const isExpanded = useSignal(false);
  const { origin, pathname } = new URL(url);
  const shown = isExpanded.value ? tries.toReversed() : tries.slice(-1);
  return (
    <Card label={`Callback of ${orderName}`} kind="compact">
      <header class="card-head">
        <h3>
          <Disclosure
            name={orderName}
            open={isExpanded.value}
            onToggle={() => {
              isExpanded.value = !isExpanded.value;
            }}
          />
        </h3>
        <span class="card-summary" />
        <Pill tone={tones[status]}>{status}</Pill>
        <Button
          label={`Send again: the callback of ${orderName}`}
          onPress={() => act("callbacks.resend", { id }, "Sent the callback again")}
        >
          Send again
        </Button>
      </header>
      <p class="card-facts">
        <Reference value={order} />
        <span>{tried === 1 ? "1 try" : `${count(tried)} tries`}</span>
        {due === null ? null : (
          <span>
            next try <Ago at={due} />
          </span>
        )}
        <span class="target">GET {origin + pathname}</span>
      </p>
      {isExpanded.value ? <Parameters url={url} /> : null}
      <ol class="tries">
        {shown.map((one) => (
          <Try key={one.at} one={one} />
        ))}
      </ol>
    </Card>
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
    <section class="panel" aria-label="Callback URLs" tabIndex={-1}>
      <h3>Callback URL of each store</h3>
      {stores.map((store) => (
        <StoreUrl key={store.reference} store={store} />
      ))}
      <p class="muted">The emulator sends a GET to this URL when an order of the store ships. Empty turns it off.</p>
    </section>
  );
}

/** The URLs that callbacks go to, and the callbacks with their tries. */
export function CallbacksPane() {
  const callbacks = state.value?.callbacks;
  const { shown, fresh, show, listProps } = useSteady(callbacks?.items ?? [], ({ id }) => id);
  if (callbacks === undefined) return null;
  return (
    <>
      <CallbackUrls />
      <div class="steady" {...listProps}>
        <Fresh amount={fresh} noun="callback" onShow={show} />
        <ul class="cards tight">
          {shown.map((callback) => (
            <li key={callback.id}>
              <CallbackCard callback={callback} />
            </li>
          ))}
        </ul>
      </div>
      <More list={callbacks} noun="callbacks" />
      {callbacks.items.length > 0 ? null : (
        <Empty
          title="No callbacks"
          hint="Set the callback URL of a store, then ship one of its orders. Each try and its response appears here."
        />
      )}
    </>
  );
}
