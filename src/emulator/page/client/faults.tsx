import { computed, signal } from "@preact/signals";
import type { FaultView } from "../view.ts";
import { act } from "./actions.ts";
import { plural } from "./format.ts";
import { Button, Pill } from "./parts.tsx";
import { calls, requests, state } from "./store.ts";
import { run } from "./stream.ts";

/** The most calls that are offered as buttons. The rest is in a list. */
const offered = 5;

/** The calls that the integration makes most, then those that matter most. */
function likelyTargets(): readonly string[] {
  const seen = new Map<string, number>();
  for (const { call } of requests.value) if (call !== null) seen.set(call, (seen.get(call) ?? 0) + 1);
  const used = [...seen].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  const likely = [...new Set(["orders.create", ...used, "orders.get", "renders.create", "claims.createItemIssues"])];
  return likely.filter((call) => calls.value.includes(call)).slice(0, offered);
}

/** A fault that the page offers by a click, in the words of its effect. */
interface Preset {
  readonly name: string;
  readonly effect: string;
  readonly fault: Readonly<Record<string, unknown>>;
  /** The only call that it can apply to. */
  readonly only?: string;
}

/** The most useful first: what a client gets wrong most often. */
const presets: readonly Preset[] = [
  {
    name: "Lose the response",
    effect: "The service carries the request out, then the connection breaks.",
    fault: { fault: "drop" },
  },
  {
    name: "Lose the request",
    effect: "The connection breaks before the service sees the request.",
    fault: { fault: "drop", when: "before" },
  },
  { name: "Slow, 3 s", effect: "The response arrives 3 seconds late.", fault: { fault: "slow", ms: 3000 } },
  {
    name: "429 rate limited",
    effect: "The service refuses the request: its bucket is empty for 2 seconds.",
    fault: { fault: "status", status: 429, code: "rate_limited", retryAfter: 2000, when: "before" },
  },
  {
    name: "503 unavailable",
    effect: "A proxy responds with 503. The service does not see the request.",
    fault: { fault: "status", status: 503, when: "before" },
  },
  {
    name: "500 after processing",
    effect: "The service carries the request out, and responds with 500.",
    fault: { fault: "status", status: 500 },
  },
  {
    name: "504 gateway",
    effect: "A gateway gives up after 1 s. The service carries the request out 2 s later.",
    fault: { fault: "gateway", ms: 1000, processing: 3000 },
  },
  { name: "Half a body", effect: "The connection breaks in the middle of the body.", fault: { fault: "truncate" } },
  { name: "Stalled body", effect: "Half of the body arrives, then nothing.", fault: { fault: "stall" } },
  { name: "Trickle", effect: "The body arrives byte by byte, 50 ms apart.", fault: { fault: "trickle", ms: 50 } },
  {
    name: "Render fails",
    effect: "The render is created, and fails when it would be completed.",
    fault: { fault: "failRender" },
    only: "renders.create",
  },
  {
    name: "HTML instead of JSON",
    effect: "A 200 with a page of a proxy.",
    fault: { fault: "body", body: "<h1>Welcome to nginx!</h1>", type: "text/html" },
  },
];

const chosen = signal(presets[0]);
/** The call that the fault applies to; empty for every request. */
const target = signal("orders.create");
/** The call that the fault is added to: the chosen one, unless the fault is of another one only. */
const aimedAt = computed(() => chosen.value?.only ?? target.value);
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
  const only = chosen.value?.only;
  const likely = likelyTargets();
  const choose = (call: string) => () => {
    target.value = call;
  };
  if (only !== undefined) {
    return (
      <fieldset class="choice">
        <legend>2. Where</legend>
        <Button pressed onPress={() => {}}>
          {only}
        </Button>
      </fieldset>
    );
  }
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
function FaultForm() {
  const where = aimedAt.value === "" ? "every request" : aimedAt.value;
  const add = () => {
    const on = aimedAt.value === "" ? {} : { on: aimedAt.value };
    const nth = once.value ? { nth: 1 } : {};
    const fault = { ...on, ...nth, ...chosen.value?.fault };
    return act(
      "faults.add",
      { fault },
      `${chosen.value?.name} will strike ${once.value ? "the next" : "each"} ${where}`,
    );
  };
  return (
    <section class="form fault-form" aria-label="Add a fault" tabIndex={-1}>
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

function Fault({ fault: { fault, id, kind, on, nth, details, isSpent, hits } }: { readonly fault: FaultView }) {
  const name = `${kind} on ${on ?? "every request"}`;
  const arm = async () => {
    await run("faults.remove", { id });
    await act("faults.add", { fault }, `The fault ${name} is armed again`);
  };
  return (
    // The key changes with each hit, so that the animation of a strike runs again.
    <article
      class={`card fault-card ${isSpent ? "spent" : ""} ${hits > 0 && !isSpent ? "struck" : ""}`}
      key={`${id}/${hits}`}
      tabIndex={-1}
      aria-label={`Fault ${kind}`}
    >
      <header class="card-head">
        <h3>
          {kind} <span class="muted">on</span> {on ?? "every request"}
        </h3>
        <Pill tone={hits > 0 ? "fault" : "quiet"}>{hits > 0 ? `struck ${plural(hits, "time")}` : "armed"}</Pill>
        {isSpent ? (
          <Button label={`Arm the fault ${name} again`} onPress={arm}>
            Arm again
          </Button>
        ) : null}
        <Button
          kind="quiet"
          label={`Remove the fault ${name}`}
          onPress={() => act("faults.remove", { id }, "Removed the fault")}
        >
          Remove
        </Button>
      </header>
      <p class="card-facts">
        <span>{isSpent ? "spent: it does not strike again" : (nth ?? "each request")}</span>
        {details === "" ? null : <code>{details}</code>}
      </p>
    </article>
  );
}

/** The faults between clients and the emulator, and the form that adds one. */
export function FaultsPane() {
  const faults = state.value?.faults ?? [];
  return (
    <>
      <FaultForm />
      <ul class="cards">
        {faults.map((fault) => (
          <li key={fault.id}>
            <Fault fault={fault} />
          </li>
        ))}
      </ul>
      {faults.length > 0 ? (
        <Button kind="quiet" onPress={() => act("faults.clear", {}, "Removed all faults")}>
          Remove all faults
        </Button>
      ) : null}
    </>
  );
}
