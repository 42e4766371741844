import { useSignal } from "@preact/signals";
import type { ClaimView } from "../view.ts";
import { act } from "./actions.ts";
import { useSteady } from "./hooks.ts";
import {
  Ago,
  Button,
  Card,
  Disclosure,
  Empty,
  Fresh,
  More,
  NotHere,
  Photos,
  Pill,
  Reference,
  type Tone,
} from "./parts.tsx";
import { state } from "./store.ts";

const decisions = [
  { decision: "replacement", label: "Award replacement", done: "Awarded a replacement", kind: "tonal" },
  { decision: "refund", label: "Award refund", done: "Awarded a refund", kind: "plain" },
  { decision: "rejection", label: "Reject", done: "Rejected the claim", kind: "danger" },
] as const;

/** The decision of the operator's support about a pending claim: three buttons, with a comment and the shipping costs on demand. */
function Review({ claim, isDetailed }: { readonly claim: ClaimView; readonly isDetailed: boolean }) {
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
      {isDetailed ? (
        <>
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
        </>
      ) : null}
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

/** One claim with its photos. A pending claim is decided with a click. */
function ClaimCard({ claim }: { readonly claim: ClaimView }) {
  const isExpanded = useSignal(false);
  const photos = [...claim.evidence, ...claim.lines.flatMap(({ evidence }) => evidence)];
  const title = titleOf(claim);
  return (
    <Card
      reference={claim.reference}
      label={`Claim ${title}`}
      kind="compact"
      onVisit={() => {
        isExpanded.value = true;
      }}
    >
      <header class="card-head">
        <h3>
          <Disclosure
            name={title}
            open={isExpanded.value}
            onToggle={() => {
              isExpanded.value = !isExpanded.value;
            }}
          />
        </h3>
        <span class="card-summary">{claim.comment}</span>
        <Pill tone={tones[claim.status] ?? "quiet"}>{claim.status}</Pill>
      </header>
      <p class="card-facts">
        <Reference value={claim.reference} />
        <span>
          of {claim.orderName} <Reference value={claim.order} />
        </span>
        <Ago at={claim.created} />
      </p>
      {claim.comment === "" || !isExpanded.value ? null : <blockquote>{claim.comment}</blockquote>}
      <Photos paths={photos} of={title} />
      {isExpanded.value ? (
        <ol class="lines">
          {claim.lines.map((line) => (
            <li key={line.index}>
              <span class="quantity">{line.quantity} ×</span>
              <span class="product">{line.product}</span>
              <span class="muted">{line.category}</span>
            </li>
          ))}
        </ol>
      ) : null}
      {claim.status === "pending" ? <Review claim={claim} isDetailed={isExpanded.value} /> : null}
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
    </Card>
  );
}

export function ClaimsPane() {
  const claims = state.value?.claims;
  const { shown, fresh, show, listProps } = useSteady(claims?.items ?? [], ({ reference }) => reference);
  if (claims === undefined) return null;
  if (claims.items.length === 0)
    return (
      <>
        <NotHere known={[]} noun="claims" />
        <Empty
          title="No claims"
          hint="Ship an order, then file a claim about its shipment: partner.claims.createItemIssues(…). You decide it here."
        />
      </>
    );
  return (
    <>
      <NotHere known={claims.items.map(({ reference }) => reference)} noun="claims" />
      <div class="steady" {...listProps}>
        <Fresh amount={fresh} noun="claim" onShow={show} />
        <ul class="cards tight">
          {shown.map((claim) => (
            <li key={claim.reference}>
              <ClaimCard claim={claim} />
            </li>
          ))}
        </ul>
      </div>
      <More list={claims} noun="claims" />
    </>
  );
}
