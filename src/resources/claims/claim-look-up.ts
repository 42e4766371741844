import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { Found } from "../../http/retry/recovery.ts";
import type { ResponseHead } from "../../util/response-head.ts";
import { latestTime } from "../../util/timestamp.ts";
import type { CreatedClaim, ItemIssuesInput, PackageMissingInput } from "./claim-input.schema.ts";
import type { ClaimReader } from "./claim-reader.ts";
import type { Claim, ClaimSummary } from "./claims.schema.ts";

/** Maximum difference between `created` and the header `Date` in milliseconds: both can be cut to seconds, and come from two clocks. */
const uncertainty = 2_000;
/** Maximum difference between the service's clock and this clock, if no response has a `Date`. */
const unknownClocks = 3_600_000;

/** The earliest possible `created` of a claim that was sent at `sentAt`, by the service's clock. */
function earliestCreated(response: ResponseHead, sentAt: number, now: number): number {
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? sentAt - unknownClocks : sentAt + date - now - uncertainty;
}

/** Decides whether a claim can be the one that was sent. */
interface Matches {
  readonly summary: (claim: ClaimSummary) => boolean;
  readonly detail: (claim: Claim) => boolean;
}

/**
 * Finds the claim that was first sent at `sentAt`. A claim that this client already knew at that time, or that was created earlier by
 * the service's clock, does not match. Throws if more than one claim matches.
 */
async function findClaim(
  reader: ClaimReader,
  sentAt: number,
  matches: Matches,
  options: RequestOptions,
): Promise<Found<CreatedClaim> | undefined> {
  const found: Found<CreatedClaim>[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  const claims = reader.list(options, (response) => {
    earliest = Math.min(earliest, earliestCreated(response, sentAt, reader.now()));
  });
  for await (const summary of claims) {
    if (latestTime(summary.created) < earliest || reader.known.wasKnown(summary.reference, sentAt)) continue;
    if (summary.status === "retracted" || !matches.summary(summary)) continue;
    const { data, response } = await reader.get(summary.reference, options).withResponse();
    if (matches.detail(data)) found.push({ data: { reference: data.reference }, response });
  }
  if (found.length > 1) {
    throw new Error(`${found.length} claims match: ${found.map(({ data }) => data.reference).join(", ")}`);
  }
  return found[0];
}

/** The category that is reserved for the package-missing operation (specification 2.8). */
const packageMissing = /^package missing$/i;

/** What a look-up needs. */
type LookUp<Input> = (
  reader: ClaimReader,
  claim: Input,
  options: RequestOptions,
  sentAt: number,
) => Promise<Found<CreatedClaim> | undefined>;

/**
 * Finds a package-missing claim by its shipment. The service accepts such a claim only if the shipment has no other claim (specification
 * 4.9). A claim of another category therefore leaves the outcome unknown.
 */
export const findPackageMissing: LookUp<PackageMissingInput> = (reader, claim, options, sentAt) =>
  findClaim(
    reader,
    sentAt,
    {
      summary: () => true,
      detail: ({ shipmentReference, reference, claimlines }) => {
        if (shipmentReference !== claim.shipmentReference) return false;
        if (claimlines.every(({ claimcategory }) => packageMissing.test(claimcategory.name))) return true;
        throw new Error(`The shipment already has another claim: ${reference}`);
      },
    },
    options,
  );

const lineKey = (orderlineIndex: number, quantity: number, claimcategoryReference: string) =>
  `${orderlineIndex}×${quantity} ${claimcategoryReference}`;

/** Whether a claim has exactly the sent lines, in any order. */
function sameLines(claim: Claim, { claimlines }: ItemIssuesInput): boolean {
  const made = claim.claimlines.map((line) =>
    lineKey(line.orderlineIndex, line.quantity, line.claimcategory.reference),
  );
  const sent = claimlines.map((line) => lineKey(line.orderlineIndex, line.quantity, line.claimcategoryReference));
  return made.sort().join() === sent.sort().join();
}

/** Finds an item-issues claim by its shipment, order and lines. */
export const findItemIssues: LookUp<ItemIssuesInput> = (reader, claim, options, sentAt) =>
  findClaim(
    reader,
    sentAt,
    {
      summary: ({ orderReference }) => orderReference === claim.orderReference,
      detail: (made) => made.shipmentReference === claim.shipmentReference && sameLines(made, claim),
    },
    options,
  );
