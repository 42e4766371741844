import { controls } from "../live/store.ts";
import { ClockPanel } from "./clock.tsx";
import { ControlForm } from "./control-form.tsx";
import { WorldsPanel } from "./worlds.tsx";

/** The clock, saved worlds, and a form for every control. */
export function WorldPane() {
  return (
    <>
      <ClockPanel />
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
