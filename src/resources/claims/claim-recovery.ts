import type { Recovery } from "../../http/retry/recovery.ts";
import type { ClaimReference } from "../../references/references.ts";
import type { CreatedClaim, ItemIssuesInput, PackageMissingInput } from "./claim-input.schema.ts";
import type { ClaimReader } from "./claim-reader.ts";
import type { Claim } from "./claims.schema.ts";

/** The code of the look-ups loads with the first lost response. */
const lookUps = () => import("./claim-look-up.ts");

const how = "Read `claims.list()` and compare the claims of this shipment with `error.identifiers`.";

/** Finds a package-missing claim by its shipment. */
export const packageMissingRecovery = (reader: ClaimReader, claim: PackageMissingInput): Recovery<CreatedClaim> => ({
  look: async (options, sentAt) => (await lookUps()).findPackageMissing(reader, claim, options, sentAt),
  repeatable: false,
  identifiers: { shipmentReference: claim.shipmentReference },
  how,
});

/** Finds an item-issues claim by its shipment, order and lines. */
export const itemIssuesRecovery = (reader: ClaimReader, claim: ItemIssuesInput): Recovery<CreatedClaim> => ({
  look: async (options, sentAt) => (await lookUps()).findItemIssues(reader, claim, options, sentAt),
  repeatable: false,
  identifiers: {
    shipmentReference: claim.shipmentReference,
    orderReference: claim.orderReference,
    claimlines: claim.claimlines,
  },
  how,
});

/** Finds out from the claim's status whether it is retracted. A decided claim can no longer be retracted. */
export function retractionRecovery(reader: ClaimReader, claimReference: ClaimReference): Recovery<void> {
  let status: Claim["status"] | undefined;
  return {
    look: async (options) => {
      const { data, response } = await reader.get(claimReference, options).withResponse();
      status = data.status;
      return status === "retracted" ? { data: undefined, response } : undefined;
    },
    ruledOut: () => status === "resolved" || status === "rejected",
    repeatable: true,
    identifiers: { claimReference },
    how: `Read \`claims.get("${claimReference}")\`: the claim is retracted if its status is \`retracted\`.`,
  };
}
