import { state } from "../live/store.ts";
import { Empty } from "../ui/empty.tsx";
import { More } from "../ui/more.tsx";
import { ClaimCard } from "./card.tsx";

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
