import { signal, useSignal } from "@preact/signals";
import { act } from "./actions.ts";
import { count, dayAndTime, plural } from "./format.ts";
import { Ago, Button, Reference } from "./parts.tsx";
import { marks, now, state } from "./store.ts";

export const jumps = [
  { label: "+1 min", name: "1 minute", span: { minutes: 1 }, ms: 60_000 },
  { label: "+5 min", name: "5 minutes", span: { minutes: 5 }, ms: 300_000 },
  { label: "+1 h", name: "1 hour", span: { hours: 1 }, ms: 3_600_000 },
  { label: "+1 day", name: "1 day", span: { days: 1 }, ms: 86_400_000 },
  { label: "+7 days", name: "7 days", span: { days: 7 }, ms: 604_800_000 },
] as const;

const speeds = [1, 10, 60, 600, 3600];

/** A move of the clock that runs, from where to where. Moves with many callbacks take a while. */
export const move = signal<{ readonly from: number; readonly to: number }>();

/** What happened since a mark, in words: `3 × ship, callbacks of 12 orders, 10 of them refused`. */
function happenedSince(latest: number): string {
  const since = marks.value.filter(({ id, name }) => id > latest && !name.startsWith("clock."));
  const callbacks = since.filter(({ name }) => name === "callback");
  const refused = callbacks.filter(({ failed }) => failed).length;
  const others = Map.groupBy(
    since.filter(({ name }) => name !== "callback"),
    ({ name }) => name,
  );
  const parts = [
    ...Array.from(others, ([name, those]) => `${those.length} × ${name}`),
    ...(callbacks.length === 0 ? [] : [`callbacks of ${plural(callbacks.length, "order")}`]),
    ...(refused === 0 ? [] : [`${count(refused)} of them refused`]),
  ];
  return parts.length === 0 ? "" : `: ${parts.join(", ")}`;
}

/** Moves the clock, and says what happened on the way. */
async function moveTo(to: number, control: string, input: object, done: string): Promise<void> {
  const latest = marks.value.at(-1)?.id ?? 0;
  move.value = { from: now.value, to };
  try {
    await act(control, input, () => done + happenedSince(latest));
  } finally {
    move.value = undefined;
  }
}

export const advance = ({ name, span, ms }: (typeof jumps)[number]): Promise<void> =>
  moveTo(now.value + ms, "clock.advance", { span }, `The clock advanced by ${name}`);

const setTo = (time: number, done: string): Promise<void> =>
  moveTo(time, "clock.set", { time: new Date(time).toISOString() }, done);

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
      <Button disabled={chosen.value === ""} onPress={() => setTo(Date.parse(chosen.value), "The clock was set")}>
        Set
      </Button>
    </div>
  );
}

/** What is due next, and a jump to it. */
function NextDue() {
  const next = state.value?.next ?? null;
  if (next === null) return <p class="muted">Nothing is due.</p>;
  return (
    <p class="next-due">
      <span>
        Next: <b>{next.name}</b> <Ago at={next.at} />
      </span>
      {next.references.map((reference) => (
        <Reference key={reference} value={reference} />
      ))}
      <Button
        disabled={next.at <= now.value}
        onPress={() => setTo(next.at, `The clock is at the next step: ${next.name}`)}
      >
        Jump to next
      </Button>
    </p>
  );
}

/** The emulator's clock: freeze it, advance it, set it, run it at a speed. */
export function ClockPanel() {
  const clock = state.value?.clock;
  if (clock === undefined) return null;
  return (
    <section class="panel" aria-label="Clock" tabIndex={-1}>
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
      <NextDue />
      <SetTime />
      <p class="muted">
        What falls due on the way happens at its own time: renders, callbacks, the weekly token reset.
      </p>
    </section>
  );
}
