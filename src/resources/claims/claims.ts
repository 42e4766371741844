import type { RequestOptions } from "../../http/request-options.ts";
import { type ApiCall, type CallContext, sendAndRead } from "../../http/send.ts";
import { ListResource } from "../../pagination/list-resource.ts";
import { type ListOptions, type Paginator, paginate } from "../../pagination/paginator.ts";
import type { ClaimReference } from "../../references/references.ts";
import { splitFields } from "../../util/fields.ts";
import { attempt } from "../../util/foreign.ts";
import { isDate } from "../../util/kinds.ts";
import { type GetMany, getMany } from "../many.ts";
import {
  type Claim,
  type Claimcategory,
  type ClaimSummary,
  createItemIssues,
  createPackageMissing,
  type FiledClaim,
  getClaim,
  type ItemIssuesInput,
  listClaimcategories,
  listClaims,
  type PackageMissingInput,
} from "./claims.endpoints.ts";
import {
  type ClaimOptions,
  type ClaimsContext,
  type ClaimsMemory,
  fileClaim,
  itemIssuesMatcher,
  packageMissingMatcher,
  retract,
} from "./file.ts";

/** Options of {@link ClaimsResource.list}. */
export interface ClaimListOptions extends ListOptions {
  /**
   * Includes claims that were closed after this time: a `Date`, or an ISO 8601 timestamp. Without an offset it is in the time
   * zone of the service. Default: the last 14 days.
   */
  readonly closedAfter?: Date | string | undefined;
}

/** Files, reads and retracts claims about shipments (specification 2.8, 3.1, 4.9). */
export class ClaimsResource {
  /** Lists the claim categories. The list can change: always fetch it (specification 2.8, 4.9). */
  readonly categories: ListResource<Claimcategory>;
  readonly #context: ClaimsContext;

  /** @internal */
  constructor(context: CallContext, memory: ClaimsMemory) {
    this.#context = { ...context, ...memory };
    this.categories = new ListResource(context.start, listClaimcategories);
  }

  /**
   * Files a claim for all items of a missing shipment, never twice (specification 4.9). If the response is lost, the SDK looks up the
   * claim before it sends the request again.
   *
   * @throws `RequestValidationError` before sending, if the claim or an option is invalid.
   * @throws `ApiError` with `shipment_too_recent` if the delivery window has not passed. The message names the first possible date.
   * @throws `OutcomeUnknownError` if the response was lost and look-ups could not find out whether the claim exists.
   * @example
   * const { reference } = await partner.claims.createPackageMissing({ shipmentReference });
   */
  createPackageMissing(claim: PackageMissingInput, options?: ClaimOptions): ApiCall<FiledClaim> {
    return fileClaim(this.#context, createPackageMissing, claim, options, packageMissingMatcher);
  }

  /**
   * Files a claim about defective or wrong items, never twice (specification 4.9). If the response is lost, the SDK looks up the claim
   * before it sends the request again.
   *
   * @throws `RequestValidationError` before sending, if the claim or an option is invalid.
   * @throws `ApiError` with `evidence_required`, `order_not_in_shipment` or `orderline_not_in_shipment`.
   * @throws `OutcomeUnknownError` if the response was lost and look-ups could not find out whether the claim exists.
   * @example
   * const photo = await partner.evidence.upload("scratch.jpg");
   * const { reference } = await partner.claims.createItemIssues({
   *   shipmentReference, orderReference,
   *   claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference, evidenceReferences: [photo.reference] }],
   * });
   */
  createItemIssues(claim: ItemIssuesInput, options?: ClaimOptions): ApiCall<FiledClaim> {
    return fileClaim(this.#context, createItemIssues, claim, options, itemIssuesMatcher);
  }

  /**
   * Iterates the open claims and the claims closed within the last 14 days, or after `closedAfter` (specification 4.9, 4.11).
   *
   * @throws `RequestValidationError` before sending, if an option is invalid.
   * @example
   * const closedAfter = new Date("2026-11-01T00:00:00Z");
   * for await (const { reference, status } of partner.claims.list({ closedAfter })) console.log(reference, status);
   */
  list(options: ClaimListOptions = {}): Paginator<ClaimSummary> {
    const [{ closedAfter }, paging] = splitFields(options, "closedAfter");
    const since = isDate(closedAfter) ? toTimestamp(closedAfter) : closedAfter;
    return paginate(this.#context.send, listClaims, { closedAfter: since }, paging, ({ items }) => {
      for (const claim of items) this.#context.known.recordRead(claim);
    });
  }

  /**
   * Reads one claim with its lines and decisions (specification 2.8, 4.9).
   *
   * @throws `NotFoundError` if no claim has this reference.
   */
  get(claimReference: ClaimReference, options?: RequestOptions): ApiCall<Claim> {
    return this.#context.start(getClaim, options, async (call) => {
      const found = await sendAndRead(call, { path: { claimReference } });
      this.#context.known.recordRead(found.data);
      return found;
    });
  }

  /**
   * Reads many claims by their references. Each is one request with low priority, at most 16 at a time. It yields each outcome with its
   * row when it is ready. One failure does not stop the other rows. Iterate the outcomes once.
   *
   * `map` returns the reference for your row. Without it, each row is a reference. `concurrency` is the number of requests at a time.
   *
   * @throws `RequestValidationError` if an option or `rows` is invalid.
   * @example
   * for await (const outcome of partner.claims.getMany(partner.claims.list(), { map: ({ reference }) => reference })) {
   *   if (outcome.ok) console.log(outcome.value.reference);
   *   else console.error(outcome.input, outcome.error);
   * }
   */
  get getMany(): GetMany<ClaimReference, Claim> {
    return getMany("claims.getMany", this.#context, this.get.bind(this));
  }

  /**
   * Retracts a pending claim (specification 3.1, 4.9). A retraction is permanent. If the response is lost, the SDK reads the claim's
   * status before it sends the request again.
   *
   * @throws `ConflictError` if the claim is no longer pending.
   * @throws `OutcomeUnknownError` if the response was lost and look-ups could not find out whether the claim is retracted.
   * @example
   * await partner.claims.retract(claimReference);
   */
  retract(claimReference: ClaimReference, options?: RequestOptions): ApiCall<void> {
    return retract(this.#context, claimReference, options);
  }
}

/** Converts a date. An invalid date becomes a string that the check of the request reports. */
const toTimestamp = (date: Date): string => attempt(() => date.toISOString()) ?? "Invalid Date";
