import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { PageState } from "../view.ts";
import { attempt, copy } from "./actions.ts";
import { advance, jumps, move, toggle } from "./clock.tsx";
import { dayOf, timeOfDay } from "./format.ts";
import { useShortcut } from "./hooks.ts";
import { Button } from "./parts.tsx";
import { baseUrl, connection, now, organization, state } from "./store.ts";
import { refresh, worldName } from "./stream.ts";

const keys = [
  ["/", "filter the requests"],
  ["↑ ↓", "move in the list"],
  ["Enter", "open a request"],
  ["Esc", "close it"],
  ["?", "show this list"],
] as const;

/** The keys of the page, in a dialog. */
function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const show = () => dialog.current?.showModal();
  useShortcut("?", show);
  return (
    <>
      <Button kind="quiet" title="Keys (?)" onPress={show}>
        Keys
      </Button>
      <dialog ref={dialog} class="keys" aria-label="Keys">
        <dl>
          {keys.map(([key, effect]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{effect}</dd>
            </div>
          ))}
        </dl>
        <Button onPress={() => dialog.current?.close()}>Close</Button>
      </dialog>
    </>
  );
}

const connections = {
  connecting: { text: "connecting", tone: "quiet" },
  live: { text: "live", tone: "good" },
  lost: { text: "reconnecting", tone: "bad" },
  removed: { text: "removed", tone: "bad" },
} as const;

function Connection() {
  const { text, tone } = connections[connection.value];
  return (
    <span class={`connection ${tone}`} role="status">
      {text}
    </span>
  );
}

/** The jumps that the header offers. */
const inHeader = jumps.filter(({ label }) => ["+1 h", "+1 day"].includes(label));

function Clock() {
  const clock = state.value?.clock;
  if (clock === undefined) return null;
  return (
    <section class={`clock ${clock.frozen ? "frozen" : ""}`} aria-label="The emulator's time">
      <p class="clock-face">
        <b>{timeOfDay(now.value)}</b>
        <span class="muted">{dayOf(now.value)}</span>
        <span class="clock-state">{clock.frozen ? "frozen" : `×${clock.speed}`}</span>
      </p>
      <Button onPress={() => toggle(clock.frozen)}>{clock.frozen ? "Run" : "Freeze"}</Button>
      {inHeader.map((jump) => (
        <Button
          key={jump.label}
          label={`${jump.label}: advance the clock by ${jump.name}`}
          onPress={() => advance(jump)}
        >
          {jump.label}
        </Button>
      ))}
    </section>
  );
}

/** Chooses the organization that the page shows. An emulator with one organization needs no choice. */
function Organizations() {
  const { organization: shown = "", organizations: names = [] } = state.value ?? {};
  if (names.length < 2) return null;
  return (
    <select
      class="organizations"
      aria-label="Organization"
      value={shown}
      onChange={({ currentTarget }) => {
        organization.value = currentTarget.value;
        attempt(async () => {
          await refresh();
          return `Shows ${currentTarget.value}`;
        });
      }}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The worlds of the port: the main one, and the isolated ones. Another one is a page of its own. */
function Worlds() {
  const names = useSignal<readonly string[]>([]);
  const inMain = state.value?.worlds;
  useEffect(() => {
    // Only the main world knows the others.
    if (worldName === "") names.value = inMain ?? [];
    else {
      fetch("/_emulator/state")
        .then((response) => response.json())
        .then((main: PageState) => {
          names.value = main.worlds;
        })
        .catch(() => {});
    }
  }, [inMain]);
  if (names.value.length === 0 && worldName === "") return null;
  const all = [...new Set([...names.value, worldName])].filter((name) => name !== "");
  return (
    <select
      class="organizations"
      aria-label="World"
      value={worldName}
      onChange={({ currentTarget: { value } }) => {
        location.href = value === "" ? "/" : `/worlds/${value}/`;
      }}
    >
      <option value="">main world</option>
      {all.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** How far a move of the clock is. */
function Move() {
  const moving = move.value;
  if (moving === undefined) return null;
  const { from, to } = moving;
  const done = Math.max(0, Math.min(1, (now.value - from) / Math.max(1, to - from)));
  return <progress class="move" value={done} aria-label="The clock moves" />;
}

/** Says that the emulator or the world has gone. The page keeps what it last showed. */
export function GoneBanner() {
  if (connection.value === "removed") {
    return (
      <p class="banner" role="alert">
        The world {worldName} was removed. The page shows what it last knew. <a href="/">Open the main world</a>
      </p>
    );
  }
  if (connection.value !== "lost") return null;
  return (
    <p class="banner" role="alert">
      The emulator does not respond. The page shows what it last knew, and connects again by itself when the emulator is
      back.
    </p>
  );
}

/** The service's address, the connection to it, and its time. */
export function Header({ inert }: { readonly inert: boolean }) {
  return (
    <header class="top" inert={inert}>
      <h1>
        pod-partner <span>emulator</span>
      </h1>
      {state.value === undefined ? null : <span class="environment">{state.value.environment}</span>}
      <button
        type="button"
        class="base-url"
        title="Copy the base URL"
        onClick={() => copy(baseUrl.value, "the base URL")}
      >
        {baseUrl.value}
      </button>
      <Worlds />
      <Organizations />
      <Connection />
      <Keys />
      <Clock />
      <Move />
    </header>
  );
}
