import { useRef } from "preact/hooks";
import { act } from "../live/actions.ts";
import { requests } from "../live/store.ts";
import { Button } from "../ui/button.tsx";
import { count } from "../ui/format.ts";
import { useShortcut } from "../ui/shortcut.ts";
import { filtered, kind, kinds, text } from "./filter.ts";

/** The filter of the list. The key `/` moves to it. */
export function FilterBar() {
  const input = useRef<HTMLInputElement>(null);
  useShortcut("/", () => input.current?.select());
  const all = requests.value.length;
  const found = filtered.value.length;
  return (
    <div class="filter-bar">
      <input
        ref={input}
        type="search"
        class="filter"
        placeholder="Filter: orders 4xx slow…"
        aria-label="Filter the requests"
        aria-keyshortcuts="/"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <fieldset class="segments">
        <legend class="hidden">Show</legend>
        {kinds.map((name) => (
          <Button key={name} kind="quiet" pressed={kind.value === name} onPress={() => (kind.value = name)}>
            {name}
          </Button>
        ))}
      </fieldset>
      <span class="found" role="status">
        {found === all ? count(all) : `${count(found)} of ${count(all)}`}
      </span>
      <Button kind="quiet" disabled={all === 0} onPress={() => act("requests.clear", {}, "Cleared the requests")}>
        Clear
      </Button>
    </div>
  );
}
