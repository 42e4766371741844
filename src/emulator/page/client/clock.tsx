import { useSignal } from "@preact/signals";
import { act } from "./actions.ts";
import { dayAndTime } from "./format.ts";
import { Button } from "./parts.tsx";
import { now, state } from "./store.ts";

export const jumps = [
  { label: "+1 min", name: "1 minute", span: { minutes: 1 } },
  { label: "+5 min", name: "5 minutes", span: { minutes: 5 } },
  { label: "+1 h", name: "1 hour", span: { hours: 1 } },
  { label: "+1 day", name: "1 day", span: { days: 1 } },
  { label: "+7 days", name: "7 days", span: { days: 7 } },
] as const;

const speeds = [1, 10, 60, 600, 3600];

export const advance = ({ name, span }: (typeof jumps)[number]) =>
  act("clock.advance", { span }, `The clock advanced by ${name}`);

export const toggle = (frozen: boolean) =>
  frozen ? act("clock.resume", {}, "The clock runs") : act("clock.freeze", {}, "The clock is frozen");

/** The time for a field of type `datetime-local`, in the browser's time zone. */
function localTime(at: number): string {
  const offset = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offset).toISOString().slice(0, 19);
}

function SetTime() {
  const chosen = useSignal("");
  return (
    <div class="row-form">
      <label class="field">
        <span>Set to a later time</span>
        <input
          type="datetime-local"
          step={1}
          value={chosen.value}
          onFocus={() => {
            if (chosen.value === "") chosen.value = localTime(now.value);
          }}
          onInput={({ currentTarget }) => {
            chosen.value = currentTarget.value;
          }}
        />
      </label>
      <Button
        disabled={chosen.value === ""}
        onPress={() => act("clock.set", { time: new Date(chosen.value).toISOString() }, "The clock was set")}
      >
        Set
      </Button>
    </div>
  );
}

/** The emulator's clock: freeze it, advance it, set it, run it at a speed. */
export function ClockPanel() {
  const clock = state.value?.clock;
  if (clock === undefined) return null;
  return (
    <section class="panel" aria-label="Clock">
      <h3>Clock</h3>
      <p class="big-time">{dayAndTime(now.value)}</p>
      <div class="actions">
        <Button kind="primary" onPress={() => toggle(clock.frozen)}>
          {clock.frozen ? "Run" : "Freeze"}
        </Button>
        {jumps.map((jump) => (
          <Button key={jump.label} label={`${jump.label}: advance by ${jump.name}`} onPress={() => advance(jump)}>
            {jump.label}
          </Button>
        ))}
      </div>
      <fieldset class="segments">
        <legend>Speed</legend>
        {speeds.map((speed) => (
          <Button
            key={speed}
            kind="quiet"
            pressed={!clock.frozen && clock.speed === speed}
            onPress={() => act("clock.resume", { speed }, `The clock runs at ×${speed}`)}
          >
            ×{speed}
          </Button>
        ))}
      </fieldset>
      <SetTime />
      <p class="muted">
        What falls due on the way happens at its own time: renders, callbacks, the weekly token reset.
      </p>
    </section>
  );
}
