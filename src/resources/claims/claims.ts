import type { Call } from "../../http/call.ts";
import { reliedOn, type Send } from "../../http/core.ts";
import { nameOf } from "../../http/endpoint.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import { paginate } from "../../pagination/paginate.ts";
import { type ListOptions, Paginator } from "../../pagination/paginator.ts";
import type { ClaimReference } from "../../references/references.ts";
import { apart } from "../../util/apart.ts";
import type { Clock } from "../../util/clock.ts";
import { ListResource } from "../list-resource.ts";
import type { CreatedClaim, ItemIssuesInput, PackageMissingInput } from "./claim-input.schema.ts";
import { type ClaimReader, itemIssuesRecovery, packageMissingRecovery, retractionRecovery } from "./claim-recovery.ts";
import {
  createItemIssues,
  createPackageMissing,
  getClaim,
  listClaimcategories,
  listClaims,
  retractClaim,
} from "./claims.endpoints.ts";
import type { Claim, Claimcategory, ClaimSummary } from "./claims.schema.ts";

/** What narrows, or widens, a list of claims. */
export interface ClaimFilter {
  /**
   * Also gives claims that were closed after this: a date, or an ISO 8601 timestamp with its offset. Default: those of the last 14
   * days.
   */
  readonly closedAfter?: Date | string | undefined;
}

/** Claims about shipments (specification 2.8, 3.1, 4.9). */
export class ClaimsResource {
  /** Why something can be claimed. The list may change: always fetch it (specification 2.8, 4.9). */
  readonly categories: ListResource<Claimcategory>;
  readonly #send: Send;
  readonly #clock: Clock;

  /** @internal */
  constructor(send: Send, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
    this.categories = new ListResource(send, listClaimcategories);
  }

  /**
   * Claims all items of a shipment that never came, at most once (specification 4.9): a lost answer is looked up before anything
   * is sent again.
   *
   * @throws `ApiError` with `shipment_too_recent` while the delivery window has not passed; its message names the first day.
   * @throws `OutcomeUnknownError` when the answer was lost and looking it up could not decide.
   * @example
   * const { reference } = await partner.claims.createPackageMissing({ shipmentReference });
   */
  createPackageMissing(claim: PackageMissingInput, options?: RequestOptions): Call<CreatedClaim> {
    const since = this.#clock.now();
    return this.#send(createPackageMissing, { body: claim }, options, {
      recovery: (sent: PackageMissingInput) => packageMissingRecovery(this.#reader, since, sent),
      shape: (created) => created,
    });
  }

  /**
   * Claims items that are not as they should be, at most once (specification 4.9): a lost answer is looked up before anything is
   * sent again.
   *
   * @throws `ApiError` with `evidence_required`, `order_not_in_shipment` or `orderline_not_in_shipment`.
   * @throws `OutcomeUnknownError` when the answer was lost and looking it up could not decide.
   * @example
   * const photo = await partner.evidence.upload("scratch.jpg");
   * const { reference } = await partner.claims.createItemIssues({
   *   shipmentReference, orderReference,
   *   claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference, evidenceReferences: [photo.reference] }],
   * });
   */
  createItemIssues(claim: ItemIssuesInput, options?: RequestOptions): Call<CreatedClaim> {
    const since = this.#clock.now();
    return this.#send(createItemIssues, { body: claim }, options, {
      recovery: (sent: ItemIssuesInput) => itemIssuesRecovery(this.#reader, since, sent),
      shape: (created) => created,
    });
  }

  /**
   * Iterates the open claims and those closed within the last 14 days, or after `closedAfter` (specification 4.9).
   *
   * @example
   * const closedAfter = new Date("2026-11-01T00:00:00Z");
   * for await (const { reference, status } of partner.claims.list({ closedAfter })) console.log(reference, status);
   */
  list(filter: ClaimFilter & ListOptions = {}): Paginator<ClaimSummary> {
    const [{ closedAfter }, options] = apart(filter, "closedAfter");
    const since = closedAfter instanceof Date ? toTimestamp(closedAfter) : closedAfter;
    return paginate(this.#send, listClaims, { closedAfter: since }, options);
  }

  /**
   * Reads one claim, with its lines and what was decided (specification 2.8).
   *
   * @throws `NotFoundError` when there is none of this reference.
   */
  get(claimReference: ClaimReference, options?: RequestOptions): Call<Claim> {
    return this.#send(getClaim, { path: { claimReference } }, options);
  }

  /**
   * Retracts a pending claim, for good (specification 3.1). A lost answer is looked up on the claim.
   *
   * @throws `ConflictError` when the claim is no longer pending.
   */
  retract(claimReference: ClaimReference, options?: RequestOptions): Call<void> {
    return this.#send(retractClaim, { path: { claimReference } }, options, {
      recovery: () => retractionRecovery(this.#reader, claimReference),
      shape: () => undefined,
    });
  }

  readonly #reader: ClaimReader = {
    list: (options, onAnswer) => {
      const fetchPage = async (cursor: string | undefined, page: RequestOptions) => {
        const call = this.#send(listClaims, { query: { cursor } }, page, reliedOn());
        const { data, response } = await call.withResponse();
        onAnswer(response);
        return data;
      };
      return new Paginator(nameOf(listClaims), fetchPage, options);
    },
    get: (claimReference, options) => this.#send(getClaim, { path: { claimReference } }, options, reliedOn()),
    now: () => this.#clock.now(),
  };
}

/** An invalid date goes on as text, so that the request's validation tells of it. */
const toTimestamp = (date: Date): string => (Number.isNaN(date.getTime()) ? String(date) : date.toISOString());
