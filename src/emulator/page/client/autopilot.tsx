import { act } from "./actions.ts";
import { span } from "./format.ts";
import { state } from "./store.ts";

/** The delays that the selects offer, in milliseconds. */
const delays = [0, 3_600_000, 4 * 3_600_000, 86_400_000, 2 * 86_400_000, 7 * 86_400_000];

const decisions = ["replacement", "refund", "rejection"];

interface DelayProps {
  readonly label: string;
  readonly after: number | null;
  readonly onAfter: (after: number | null) => void;
}

/** When a step happens by itself, if it does. */
function Delay({ label, after, onAfter }: DelayProps) {
  const values = [...new Set([...delays, ...(after === null ? [] : [after])])].sort((one, other) => one - other);
  return (
    <label class="field">
      <span>{label}</span>
      <select
        value={after === null ? "" : String(after)}
        onChange={({ currentTarget: { value } }) => onAfter(value === "" ? null : Number(value))}
      >
        <option value="">by hand</option>
        {values.map((value) => (
          <option key={value} value={String(value)}>
            {value === 0 ? "at once" : `after ${span(value)}`}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What the operator does by itself: production, shipping, and the reviews of claims. */
export function AutopilotPanel() {
  const automation = state.value?.automation;
  if (automation === undefined) return null;
  const set = (change: Partial<typeof automation>) => {
    const { production, shipping, review, decision } = { ...automation, ...change };
    const input = {
      ...(production === null ? {} : { production }),
      ...(shipping === null ? {} : { shipping }),
      ...(review === null ? {} : { review: { after: review, decision: decision ?? "refund" } }),
    };
    void act("automate", input, "The autopilot is set");
  };
  return (
    <section class="panel" aria-label="Autopilot" tabIndex={-1}>
      <h3>Autopilot</h3>
      <div class="row-form">
        <Delay label="Production" after={automation.production} onAfter={(production) => set({ production })} />
        <Delay label="Shipping" after={automation.shipping} onAfter={(shipping) => set({ shipping })} />
        <Delay label="Review of claims" after={automation.review} onAfter={(review) => set({ review })} />
        {automation.review === null ? null : (
          <label class="field">
            <span>Decision</span>
            <select
              value={automation.decision ?? ""}
              onChange={({ currentTarget }) => set({ decision: currentTarget.value })}
            >
              {decisions.map((decision) => (
                <option key={decision} value={decision}>
                  {decision}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <p class="muted">Each step follows the one before it, by the emulator's clock. Advance the clock to see them.</p>
    </section>
  );
}
