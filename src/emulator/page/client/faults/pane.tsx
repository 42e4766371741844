import type { FaultView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { state } from "../live/store.ts";
import { Button } from "../ui/button.tsx";
import { plural } from "../ui/format.ts";
import { Pill } from "../ui/pill.tsx";
import { FaultForm } from "./form.tsx";

function Fault({ fault }: { readonly fault: FaultView }) {
  const { id, kind, on, nth, details, isSpent, hits } = fault;
  return (
    // The key changes with each hit, so that the animation of a strike runs again.
    <article class={`card fault-card ${hits > 0 ? "struck" : ""}`} key={`${id}/${hits}`} aria-label={`Fault ${kind}`}>
      <header class="card-head">
        <h3>
          {kind} <span class="muted">on</span> {on ?? "every request"}
        </h3>
        <Pill tone={hits > 0 ? "fault" : "quiet"}>{hits > 0 ? `struck ${plural(hits, "time")}` : "armed"}</Pill>
        <Button
          kind="quiet"
          label={`Remove the fault ${kind} on ${on ?? "every request"}`}
          onPress={() => act("faults.remove", { id }, "Removed the fault")}
        >
          Remove
        </Button>
      </header>
      <p class="card-facts">
        <span>{isSpent ? "will not strike again" : (nth ?? "each request")}</span>
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
