import { signal } from "@preact/signals";
import { act } from "../live/actions.ts";
import { calls } from "../live/store.ts";
import { Button } from "../ui/button.tsx";
import { presets } from "./presets.ts";
import { likelyTargets } from "./targets.ts";

const chosen = signal(presets[0]);
/** The call that the fault applies to; empty for every request. */
const target = signal("orders.create");
const once = signal(true);

/** Opens the form with a call. The details of a request use it. */
export const aimAt = (call: string): void => {
  target.value = call;
};

function Kinds() {
  return (
    <fieldset class="choice">
      <legend>1. What goes wrong</legend>
      {presets.map((preset) => (
        <Button
          key={preset.name}
          title={preset.effect}
          pressed={chosen.value === preset}
          onPress={() => {
            chosen.value = preset;
          }}
        >
          {preset.name}
        </Button>
      ))}
      <p class="effect" role="status">
        {chosen.value?.effect}
      </p>
    </fieldset>
  );
}

function Targets() {
  const likely = likelyTargets();
  const choose = (call: string) => () => {
    target.value = call;
  };
  return (
    <fieldset class="choice">
      <legend>2. Where</legend>
      <Button pressed={target.value === ""} onPress={choose("")}>
        every request
      </Button>
      {likely.map((call) => (
        <Button key={call} pressed={target.value === call} onPress={choose(call)}>
          {call}
        </Button>
      ))}
      <select
        aria-label="Another endpoint"
        value={likely.includes(target.value) ? "" : target.value}
        onChange={({ currentTarget }) => {
          target.value = currentTarget.value;
        }}
      >
        <option value="">another endpoint…</option>
        {calls.value
          .filter((call) => !likely.includes(call))
          .map((call) => (
            <option key={call} value={call}>
              {call}
            </option>
          ))}
      </select>
    </fieldset>
  );
}

/** Adds a fault: what, where, add. */
export function FaultForm() {
  const where = target.value === "" ? "every request" : target.value;
  const add = () => {
    const on = target.value === "" ? {} : { on: target.value };
    const nth = once.value ? { nth: 1 } : {};
    const fault = { ...on, ...nth, ...chosen.value?.fault };
    return act(
      "faults.add",
      { fault },
      `${chosen.value?.name} will strike ${once.value ? "the next" : "each"} ${where}`,
    );
  };
  return (
    <section class="form fault-form" aria-label="Add a fault">
      <Kinds />
      <Targets />
      <div class="choice add">
        <Button kind="primary" onPress={add}>
          Add the fault
        </Button>
        <label class="check">
          <input
            type="checkbox"
            checked={once.value}
            onChange={({ currentTarget }) => {
              once.value = currentTarget.checked;
            }}
          />
          only the next request
        </label>
      </div>
    </section>
  );
}
