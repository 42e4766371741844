import { useRef } from "preact/hooks";
import { act, attempt, copy, notify } from "./actions.ts";
import { AutopilotPanel } from "./autopilot.tsx";
import { ClockPanel } from "./clock.tsx";
import { ControlForm } from "./control-form.tsx";
import { Button } from "./parts.tsx";
import { controls, state } from "./store.ts";
import { inWorld, refresh, run } from "./stream.ts";

/** Lets the browser save JSON as a file. */
function download(name: string, content: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content, undefined, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

const save = () =>
  attempt(async () => {
    download("world.json", await run("world"));
    return "Saved the world as world.json";
  });

const load = (file: File) =>
  attempt(async () => {
    const world: unknown = JSON.parse(await file.text());
    await run("load", { world });
    await refresh();
    return `Loaded ${file.name}`;
  });

const environment = async (): Promise<void> => {
  const response = await fetch(inWorld("/_emulator/environment"));
  await copy(await response.text(), "the base URL and the key, as lines of a .env file");
};

function reset(): void {
  if (confirm("Reset the world? Orders, renders, claims and faults are removed.")) act("reset", {}, "Reset the world");
  else notify("Nothing was changed");
}

/** Saves and restores everything: as a file, or as a checkpoint in the emulator. */
function WorldsPanel() {
  const input = useRef<HTMLInputElement>(null);
  const checkpoints = state.value?.checkpoints ?? [];
  return (
    <section class="panel" aria-label="World" tabIndex={-1}>
      <h3>World</h3>
      <p class="muted">Orders, renders, claims, faults, the clock and pending work, as one JSON file.</p>
      <div class="actions">
        <Button kind="primary" onPress={save}>
          Save to a file
        </Button>
        <Button onPress={() => input.current?.click()}>Load a file…</Button>
        <input
          ref={input}
          type="file"
          class="hidden"
          accept="application/json,.json"
          aria-label="World file"
          tabIndex={-1}
          onChange={async ({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            if (file !== undefined) await load(file);
            currentTarget.value = "";
          }}
        />
        <Button kind="danger" onPress={reset}>
          Reset…
        </Button>
      </div>
      <div class="actions">
        <Button onPress={environment}>Copy environment</Button>
        <a class="button plain" href={inWorld("/_emulator/requests.har")} download="requests.har">
          Export the requests as HAR
        </a>
      </div>
      <div class="actions">
        <Button onPress={() => act("checkpoint", {}, "Set a checkpoint")}>Set a checkpoint</Button>
        {checkpoints.map((name) => (
          <Button key={name} onPress={() => act("rewind", { name }, `Back at the checkpoint ${name}`)}>
            ↺ Rewind to {name}
          </Button>
        ))}
      </div>
    </section>
  );
}

/** The clock, saved worlds, and a form for every control. */
export function WorldPane() {
  return (
    <>
      <ClockPanel />
      <AutopilotPanel />
      <WorldsPanel />
      {controls.value.length === 0 ? null : (
        <section class="panel" aria-label="All controls">
          <h3>All controls</h3>
          <p class="muted">
            The same over HTTP: <code>POST /_emulator/&lt;name&gt;</code> with a JSON object.
          </p>
          {controls.value.map((control) => (
            <ControlForm key={control.name} control={control} />
          ))}
        </section>
      )}
    </>
  );
}
