import { useSignal } from "@preact/signals";
import type { ClaimView } from "../../overview/view.ts";
import { act } from "../live/actions.ts";
import { Button } from "../ui/button.tsx";

const decisions = [
  { decision: "replacement", label: "Award replacement", done: "Awarded a replacement", kind: "tonal" },
  { decision: "refund", label: "Award refund", done: "Awarded a refund", kind: "plain" },
  { decision: "rejection", label: "Reject", done: "Rejected the claim", kind: "danger" },
] as const;

/** The decision of the operator's support about a pending claim. */
export function Review({ claim }: { readonly claim: ClaimView }) {
  const comment = useSignal("");
  const costs = useSignal(false);
  const review = (decision: string, done: string) =>
    act(
      "reviewClaim",
      { claim: claim.reference, decision, refundShippingCosts: costs.value, comment: comment.value },
      done,
    );
  return (
    <div class="form">
      <label class="field">
        <span>Comment of the decision</span>
        <input
          type="text"
          placeholder="Optional"
          value={comment.value}
          onInput={({ currentTarget }) => {
            comment.value = currentTarget.value;
          }}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={costs.value}
          onChange={({ currentTarget }) => {
            costs.value = currentTarget.checked;
          }}
        />
        Refund the shipping costs, too
      </label>
      <div class="actions">
        {decisions.map(({ decision, label, done, kind }) => (
          <Button key={decision} kind={kind} onPress={() => review(decision, done)}>
            {label}
          </Button>
        ))}
      </div>
    </div>
  );
}
