import { state } from "../live/store.ts";
import { Empty } from "../ui/empty.tsx";
import { More } from "../ui/more.tsx";
import { CallbackCard } from "./card.tsx";
import { CallbackUrls } from "./urls.tsx";

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
