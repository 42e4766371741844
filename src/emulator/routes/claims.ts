import * as z from "zod/mini";
import {
  type Claim,
  type Claimline,
  type ClaimlineDecision,
  type ClaimSummary,
  createItemIssues,
  createPackageMissing,
  getClaim,
  listClaimcategories,
  listClaims,
  retractClaim,
} from "../../resources/claims/claims.endpoints.ts";
import { reference } from "../../schemas/shape.ts";
import { found, Problem } from "../base/problem.ts";
import {
  each,
  ifAny,
  lines,
  named,
  only,
  pages,
  quantity,
  type Route,
  referenceOnly,
  route,
  whole,
  written,
} from "../http/route.ts";
import { categoryOf, claimItems, claimPackage, claimStatus, summaryOf } from "../rules/claims.ts";
import { closedAt, evidenceUrls } from "../rules/files.ts";
import type { EmulatorAssumptions } from "../settings/assumed.ts";
import { toTimestamp, type World } from "../state/world.ts";
import type { StoredClaim, StoredClaimline, StoredLineDecision } from "../work/records.ts";

/** A date with an optional time and offset, in the extended or basic format of ISO 8601. */
const timestampForms =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?(?:(Z)|([+-]\d{2}):?(\d{2})?)?)?$/;

/**
 * The time of an ISO 8601 timestamp, in milliseconds since 1970; undefined for another text. The specification does not show which of
 * the forms the service takes. Assumed: a missing time is 00:00, and a missing offset UTC.
 */
function instantOf(text: string): number | undefined {
  const match = timestampForms.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "0", , offset, offsetMinute = "00"] =
    match;
  const date = `${year}-${month}-${day}`;
  const zone = offset === undefined ? "Z" : `${offset}:${offsetMinute}`;
  const time = Date.parse(`${date}T${hour}:${minute}:${second}.${fraction.slice(0, 3)}${zone}`);
  // The platform takes the 31st of a month of 30 days for the 1st of the next one.
  const isDay = new Date(`${date}T00:00:00Z`).getUTCDate() === Number(day);
  return isDay && !Number.isNaN(time) ? time : undefined;
}

/** Refuses a form of `closedAfter` that is assumed not to be taken. */
function refuseForm(text: string | undefined, { closedAfterForms }: EmulatorAssumptions): void {
  if (text === undefined) return;
  const [, , , , hour, , , , utc, offset] = timestampForms.exec(text) ?? [];
  const form = hour === undefined ? "date" : (utc ?? offset) === undefined ? "local" : "offset";
  if (closedAfterForms.includes(form)) return;
  throw new Problem("unknown_input_error", `closedAfter: ${text} is not a timestamp with a time and an offset`);
}

const timestamp = () =>
  z.string().check(z.refine((text) => instantOf(text) !== undefined, { error: "expected an ISO 8601 timestamp" }));

/** Up to 3 (4.9). Assumed: they may be left out. */
const evidence = () =>
  z._default(z.array(reference("Evidence")).check(z.maxLength(3, { error: "at most 3 evidence references" })), []);

const packageMissing = () =>
  z.strictObject({ shipmentReference: reference("Shipment"), evidenceReferences: evidence() });

const maxCommentLength = 1000;

const itemIssues = () =>
  z.strictObject({
    shipmentReference: reference("Shipment"),
    orderReference: reference("Order"),
    // Assumed: a character is a code point, of which some are two units of UTF-16.
    comment: z.optional(
      z
        .string()
        .check(
          z.refine((text) => [...text].length <= maxCommentLength, { error: `at most ${maxCommentLength} characters` }),
        ),
    ),
    claimlines: lines(
      z.strictObject({
        // An index that is not in the shipment has a code of its own (7).
        orderlineIndex: z.int(),
        quantity: quantity({ smallestQuantity: 1 }),
        claimcategoryReference: reference("Claimcategory"),
        evidenceReferences: evidence(),
      }),
    ),
  });

/** 2.8 */
const promisedCategory = only(named("reference", "name"));
const promisedClaim = only({
  ...named("reference", "orderReference", "shipmentReference", "status", "createdBy", "created", "retracted"),
  comment: written,
  decision: only({ ...named("decided", "refundShippingCosts"), comment: written }),
  evidenceUrls: whole,
  claimlines: each(
    only({
      ...named("productReference", "orderlineIndex", "quantity", "evidenceUrls"),
      imageReference: ifAny,
      claimcategory: promisedCategory,
      decision: only({
        ...named("replacementQuantity", "refundQuantity", "rejectionQuantity"),
        comment: written,
      }),
    }),
  ),
});

const toTimestampOrNull = (at: number | null | undefined) => (typeof at === "number" ? toTimestamp(at) : null);

/** A claim as an entry of a list (specification 2.8). */
function toClaimSummary(world: World, claim: StoredClaim): ClaimSummary {
  const categories = new Set(claim.lines.map(({ categoryReference }) => categoryOf(world, categoryReference)));
  return {
    reference: claim.reference,
    orderReference: claim.orderReference,
    status: claimStatus(claim),
    claimcategories: [...categories].map(summaryOf),
    created: toTimestamp(claim.created),
    retracted: toTimestampOrNull(claim.retracted),
    decided: toTimestampOrNull(claim.decision?.decided),
  };
}

const toLineDecision = (decision: StoredLineDecision | undefined): ClaimlineDecision | null =>
  decision === undefined
    ? null
    : {
        replacementQuantity: decision.replacement,
        refundQuantity: decision.refund,
        rejectionQuantity: decision.rejection,
        comment: decision.comment,
      };

const toClaimline = (world: World, claim: StoredClaim, line: StoredClaimline, position: number): Claimline => ({
  productReference: line.productReference,
  orderlineIndex: line.orderlineIndex,
  quantity: line.quantity,
  imageReference: line.imageReference,
  claimcategory: summaryOf(categoryOf(world, line.categoryReference)),
  decision: toLineDecision(claim.decision?.lines[position]),
  evidenceUrls: evidenceUrls(world, claim, line.evidence),
});

/** A claim in full (specification 2.8). */
function toClaim(world: World, claim: StoredClaim): Claim {
  const { decision } = claim;
  return {
    reference: claim.reference,
    orderReference: claim.orderReference,
    shipmentReference: claim.shipmentReference,
    status: claimStatus(claim),
    comment: claim.comment,
    createdBy: claim.createdBy,
    created: toTimestamp(claim.created),
    retracted: toTimestampOrNull(claim.retracted),
    decision:
      decision === null
        ? null
        : {
            decided: toTimestamp(decision.decided),
            refundShippingCosts: decision.refundShippingCosts,
            comment: decision.comment,
          },
    evidenceUrls: evidenceUrls(world, claim, claim.evidence),
    claimlines: claim.lines.map((line, position) => toClaimline(world, claim, line, position)),
  };
}

/** By default, the list has the claims that were closed in the last 14 days (specification 8). Milliseconds. */
const listedClosed = 14 * 86_400_000;

export const claimRoutes: readonly Route[] = [
  route(listClaimcategories, {
    models: "categories with and without evidence, and the reserved one",
    promises: only(named("reference", "name", "evidenceRequired")),
    handle: ({ world }) => world.claimcategories,
  }),
  route(createPackageMissing, {
    models: "the delivery window, the warranty, existing claims and replacements",
    controls: ["ship", "clock.advance"],
    body: packageMissing,
    promises: referenceOnly,
    handle: ({ body, ...caller }) => ({ reference: claimPackage(caller, body).reference }),
  }),
  route(createItemIssues, {
    models: "the warranty, shipped and already claimed quantities, evidence",
    controls: ["ship", "clock.advance"],
    body: itemIssues,
    promises: referenceOnly,
    handle: ({ body, ...caller }) => ({ reference: claimItems(caller, body).reference }),
  }),
  route(listClaims, {
    models: "open claims, and those closed within 14 days or after closedAfter, by pages",
    options: ["pageSize", "seed.orders"],
    controls: ["seed", "clock.advance"],
    query: { ...pages, closedAfter: () => z.optional(timestamp()) },
    promises: only({
      ...named("reference", "orderReference", "status", "created", "retracted", "decided"),
      claimcategories: each(promisedCategory),
    }),
    handle: ({ world, query }) => {
      refuseForm(query?.closedAfter, world.settings.assumptions);
      const since = instantOf(query?.closedAfter ?? "") ?? world.now() - listedClosed;
      const isListed = (claim: StoredClaim, from: number) => (closedAt(claim) ?? from) >= from;
      const { items, nextCursor } = world.claims.page(query?.cursor, isListed, since);
      return { items: items.map((claim) => toClaimSummary(world, claim)), nextCursor };
    },
  }),
  route(getClaim, {
    models: "pending, resolved, rejected and retracted claims, with evidence until it is purged",
    options: ["automation"],
    controls: ["reviewClaim", "automate", "clock.advance"],
    promises: promisedClaim,
    handle: ({ world, path }) =>
      toClaim(world, found(world.claims.get(path.claimReference), `Claim ${path.claimReference}`)),
  }),
  route(retractClaim, {
    models: "204 while the claim is pending",
    controls: ["reviewClaim"],
    handle: ({ world, path }) => {
      const claim = found(world.claims.get(path.claimReference), `Claim ${path.claimReference}`);
      if (claimStatus(claim) !== "pending")
        throw new Problem("claim_not_pending", `The claim is ${claimStatus(claim)}`);
      claim.retracted = world.now();
    },
  }),
];
