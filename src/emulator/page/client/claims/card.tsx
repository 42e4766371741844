import type { ClaimView } from "../../overview/view.ts";
import { Ago } from "../ui/ago.tsx";
import { Photos } from "../ui/photos.tsx";
import { Pill, type Tone } from "../ui/pill.tsx";
import { Reference } from "../ui/reference.tsx";
import { Review } from "./review.tsx";

const tones: Readonly<Record<string, Tone>> = {
  pending: "busy",
  resolved: "good",
  rejected: "bad",
  retracted: "quiet",
};

/** The title of a claim: its categories. */
const titleOf = ({ lines }: ClaimView): string => [...new Set(lines.map(({ category }) => category))].join(", ");

/** One claim with its photos. A pending claim can be decided. */
export function ClaimCard({ claim }: { readonly claim: ClaimView }) {
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
