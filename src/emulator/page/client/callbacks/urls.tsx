import { useSignal } from "@preact/signals";
import type { StoreView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { state } from "../live/store.ts";
import { Button } from "../ui/button.tsx";

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
export function CallbackUrls() {
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
