import { useSignal } from "@preact/signals";
import type { ClaimView } from "../view.ts";
import { act } from "./actions.ts";
import { Ago, Button, Empty, More, Photos, Pill, Reference, type Tone } from "./parts.tsx";
import { state } from "./store.ts";

const decisions = [
  { decision: "replacement", label: "Award replacement", done: "Awarded a replacement", kind: "tonal" },
  { decision: "refund", label: "Award refund", done: "Awarded a refund", kind: "plain" },
  { decision: "rejection", label: "Reject", done: "Rejected the claim", kind: "danger" },
] as const;

/** The decision of the operator's support about a pending claim. */
function Review({ claim }: { readonly claim: ClaimView }) {
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

const tones: Readonly<Record<string, Tone>> = {
  pending: "busy",
  resolved: "good",
  rejected: "bad",
  retracted: "quiet",
};

/** The title of a claim: its categories. */
const titleOf = ({ lines }: ClaimView): string => [...new Set(lines.map(({ category }) => category))].join(", ");

/** One claim with its photos. A pending claim can be decided. */
function ClaimCard({ claim }: { readonly claim: ClaimView }) {
  return (
    <article class="card" aria-label={`Claim ${titleOf(claim)}`}>
      <header class="card-head">
        <h3>{titleOf(claim)}</h3>
        <Pill tone={tones[claim.status] ?? "quiet"}>{claim.status}</Pill>
      </header>
      <p class="card-facts">
        <Reference value={claim.reference} />
        <span>
          of {claim.orderName} <Reference value={claim.order} />
        </span>
        <Ago at={claim.created} />
      </p>
      {claim.comment === "" ? null : <blockquote>{claim.comment}</blockquote>}
      <Photos paths={claim.evidence} of={titleOf(claim)} />
      <ol class="lines">
        {claim.lines.map((line) => (
          <li key={line.index}>
            <span class="quantity">{line.quantity} ×</span>
            <span class="product">{line.product}</span>
            <span class="muted">{line.category}</span>
            <Photos paths={line.evidence} of={line.category} />
          </li>
        ))}
      </ol>
      {claim.status === "pending" ? <Review claim={claim} /> : null}
      {claim.award === null ? null : (
        <p class="reason">
          Decided: {claim.award}
          {claim.decisionComment === "" ? "" : `. ${claim.decisionComment}`}
          {claim.replacement === null ? null : (
            <>
              {" "}
              <Reference value={claim.replacement} />
            </>
          )}
        </p>
      )}
    </article>
  );
}

export function ClaimsPane() {
  const claims = state.value?.claims;
  if (claims === undefined) return null;
  if (claims.items.length === 0)
    return (
      <Empty
        title="No claims"
        hint="Ship an order, then file a claim about its shipment: partner.claims.createItemIssues(…). You decide it here."
      />
    );
  return (
    <>
      <ul class="cards">
        {claims.items.map((claim) => (
          <li key={claim.reference}>
            <ClaimCard claim={claim} />
          </li>
        ))}
      </ul>
      <More list={claims} noun="claims" />
    </>
  );
}
