import type { Call } from "../../http/call.ts";
import type { Found, Recovery } from "../../http/recovery.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { Paginator } from "../../pagination/paginator.ts";
import type { ClaimReference } from "../../references/references.ts";
import { latestMoment } from "../../util/moment.ts";
import type { CreatedClaim, ItemIssuesInput, PackageMissingInput } from "./claim-input.schema.ts";
import type { Claim, ClaimSummary } from "./claims.schema.ts";

/** What finding a claim again takes: the list, with each answer that brings a page of it, the details, and the time. */
export interface ClaimReader {
  list(options: RequestOptions, onAnswer: (response: Response) => void): Paginator<ClaimSummary>;
  get(reference: ClaimReference, options: RequestOptions): Call<Claim>;
  now(): number;
}

/**
 * A claim of the same content that was made so many milliseconds before this one was sent is taken for it: the two clocks may
 * differ, and nobody files the same claim twice within an hour.
 */
const tolerance = 3_600_000;

/** How many milliseconds the service's clock is behind this one, by an answer's `Date`; 0 when it is not. */
function behind(response: Response, now: number): number {
  const said = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(said) ? 0 : Math.max(0, now - said);
}

/** Finds the one claim that is what was sent at `since`; more than one cannot be told apart. */
async function findClaim(
  reader: ClaimReader,
  since: number,
  matches: { readonly summary: (claim: ClaimSummary) => boolean; readonly detail: (claim: Claim) => boolean },
  options: RequestOptions,
): Promise<Found<CreatedClaim> | undefined> {
  const found: Found<CreatedClaim>[] = [];
  // By the clock that is behind: to take the claim for an older one would be to file it twice.
  let earliest = since - tolerance;
  const claims = reader.list(options, (response) => {
    earliest = Math.min(earliest, since - behind(response, reader.now()) - tolerance);
  });
  for await (const summary of claims) {
    if (latestMoment(summary.created) < earliest) continue;
    if (summary.status === "retracted" || !matches.summary(summary)) continue;
    const { data, response } = await reader.get(summary.reference, options).withResponse();
    if (matches.detail(data)) found.push({ data: { reference: data.reference }, response });
  }
  if (found.length > 1) {
    throw new Error(`${found.length} claims match: ${found.map(({ data }) => data.reference).join(", ")}`);
  }
  return found[0];
}

const how = "Read `claims.list()` and compare the claims of this shipment with what is in `find`.";

/** The category that is reserved for the package-missing operation (specification 2.8). */
const packageMissing = /^package missing$/i;

/**
 * A package is claimed only where its shipment has no other claim (specification 4.9): one of another category that is there all the
 * same leaves it open what became of ours.
 */
export const packageMissingRecovery = (
  reader: ClaimReader,
  since: number,
  claim: PackageMissingInput,
): Recovery<CreatedClaim> => ({
  look: (options) =>
    findClaim(
      reader,
      since,
      {
        summary: () => true,
        detail: ({ shipmentReference, reference, claimlines }) => {
          if (shipmentReference !== claim.shipmentReference) return false;
          if (claimlines.every(({ claimcategory }) => packageMissing.test(claimcategory.name))) return true;
          throw new Error(`The shipment has another claim: ${reference}`);
        },
      },
      options,
    ),
  find: { shipmentReference: claim.shipmentReference },
  how,
});

const lineKey = (orderlineIndex: number, quantity: number, claimcategoryReference: string) =>
  `${orderlineIndex}×${quantity} ${claimcategoryReference}`;

/** Whether a claim has exactly the lines that were sent, in any order. */
function sameLines(claim: Claim, { claimlines }: ItemIssuesInput): boolean {
  const made = claim.claimlines.map((line) =>
    lineKey(line.orderlineIndex, line.quantity, line.claimcategory.reference),
  );
  const sent = claimlines.map((line) => lineKey(line.orderlineIndex, line.quantity, line.claimcategoryReference));
  return made.sort().join() === sent.sort().join();
}

/** A claim about items is found by its shipment, its order and its lines. */
export const itemIssuesRecovery = (
  reader: ClaimReader,
  since: number,
  claim: ItemIssuesInput,
): Recovery<CreatedClaim> => ({
  look: (options) =>
    findClaim(
      reader,
      since,
      {
        summary: ({ orderReference }) => orderReference === claim.orderReference,
        detail: (made) => made.shipmentReference === claim.shipmentReference && sameLines(made, claim),
      },
      options,
    ),
  find: {
    shipmentReference: claim.shipmentReference,
    orderReference: claim.orderReference,
    claimlines: claim.claimlines,
  },
  how,
});

/** A retraction is seen on the claim itself; one that is decided can no longer be retracted. */
export function retractionRecovery(reader: ClaimReader, claimReference: ClaimReference): Recovery<void> {
  let status: Claim["status"] | undefined;
  return {
    look: async (options) => {
      const { data, response } = await reader.get(claimReference, options).withResponse();
      status = data.status;
      return status === "retracted" ? { data: undefined, response } : undefined;
    },
    ruledOut: () => status === "resolved" || status === "rejected",
    find: { claimReference },
    how: `Read \`claims.get("${claimReference}")\`: its status tells whether it is retracted.`,
  };
}
