import * as z from "zod/mini";
import { StorageError } from "../../errors/storage.ts";
import { type Issue, RequestValidationError } from "../../errors/validation.ts";
import type { Found } from "../../http/call.ts";
import { type Doubts, maxInDoubt, settleOrCreate } from "../../http/create-once.ts";
import { type Endpoint, nameOf } from "../../http/endpoint.ts";
import { custom, optionFaults, type RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext, SharedStorage } from "../../http/send.ts";
import { Paginator } from "../../pagination/paginator.ts";
import type { ClaimReference, ShipmentReference } from "../../references/references.ts";
import type { Schema } from "../../schemas/shape.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { isAlike } from "../../util/alike.ts";
import { longestSince, type Moment, type PartnerClock } from "../../util/clock.ts";
import { KeyedMutex } from "../../util/concurrency.ts";
import { canonicalJson } from "../../util/digest.ts";
import { splitFields } from "../../util/fields.ts";
import { propertyOf } from "../../util/foreign.ts";
import { Latest } from "../../util/latest.ts";
import type { ResponseHead } from "../../util/response-head.ts";
import { isTimestamp, latestTime } from "../../util/timestamp.ts";
import { needsStorage, noteLifetime, once } from "../once.ts";
import {
  type Claim,
  type ClaimSummary,
  type CreatedClaim,
  type FiledClaim,
  getClaim,
  type ItemIssuesInput,
  listClaims,
  type PackageMissingInput,
  retractClaim,
} from "./claims.endpoints.ts";

/** Maximum number of claims that a client remembers. */
const capacity = 10_000;

/** The claims that a client has read or filed. A claim that it read before it sent a request cannot be the result of that request. */
export class KnownClaims {
  readonly #clock: PartnerClock;
  /** When each claim was first read, in milliseconds of the clock. */
  readonly #since = new Latest<number>(capacity);

  constructor(clock: PartnerClock) {
    this.#clock = clock;
  }

  /** Records that a claim was read. */
  recordRead({ reference }: { readonly reference: ClaimReference }): void {
    if (this.#since.get(reference) === undefined) this.#since.set(reference, this.#clock.now());
  }

  /** Records that a call filed a claim, so that the claim cannot be the result of another call. */
  recordFiled(reference: ClaimReference): void {
    this.#since.set(reference, Number.NEGATIVE_INFINITY);
  }

  /** Whether a claim was already known at `time`. */
  wasKnown(reference: ClaimReference, time: number): boolean {
    return (this.#since.get(reference) ?? Number.POSITIVE_INFINITY) < time;
  }
}

/** What a client remembers of claims. */
export interface ClaimsMemory {
  readonly known: KnownClaims;
  readonly mutex: KeyedMutex;
  readonly doubts: Doubts;
}

export const createClaimsMemory = (clock: PartnerClock): ClaimsMemory => ({
  known: new KnownClaims(clock),
  mutex: new KeyedMutex(),
  doubts: new Latest(maxInDoubt),
});

/** What filing and retracting claims needs of the client. */
export interface ClaimsContext extends CallContext, ClaimsMemory {}

/** Options of {@link ClaimsResource.createPackageMissing} and {@link ClaimsResource.createItemIssues}. */
export interface ClaimOptions extends RequestOptions {
  /**
   * Your own key of the claim, such as the number of a return. The claim is then filed once for this key, by any process and after any kill.
   * Needs the client's option `storage`; the key is not sent. Default: none, and an equal claim after a finished one is a new claim.
   */
  readonly key?: string | undefined;
}

const claimOptions: Schema = () =>
  z.strictObject({
    key: custom((key) => typeof key === "string" && key !== "", "expected a string that is not empty"),
  });

/** A claim without its photos: a job that runs again uploads them again, with other references. */
const withoutPhotos = (claim: object): unknown =>
  JSON.parse(JSON.stringify(claim, (name, value) => (name === "evidenceReferences" ? undefined : value)));

/** The error for a key that was already used for another claim. */
const otherClaim = (endpoint: string, filed: CreatedClaim | undefined): RequestValidationError => {
  const claim = filed === undefined ? "" : `, ${filed.reference},`;
  return new RequestValidationError({
    endpoint,
    issues: [{ path: ["key"], message: `is the key of another claim${claim} with other content` }],
  });
};

/** Recognizes a claim whose response was lost. */
interface ClaimMatcher {
  /** The values that identify the claim, for the caller's error. */
  readonly identifiers: Readonly<Record<string, unknown>>;
  /** The fields that it compares. */
  readonly needs: readonly string[];
  /** The comment that was sent. A claim with another one may be another claim. Default: comments are not compared. */
  readonly comment?: string | undefined;
  /** Whether the claim of this summary can match. Default: any claim. */
  readonly matchesSummary?: (claim: ClaimSummary) => boolean;
  readonly matches: (claim: Claim) => boolean;
}

/** Files a claim. Claims about one shipment are filed one at a time, because a look-up cannot tell equal claims apart. */
export function fileClaim<Input extends { readonly shipmentReference: ShipmentReference }>(
  context: ClaimsContext,
  endpoint: Endpoint<{ readonly body: Input; readonly faults?: readonly Issue[] }, CreatedClaim>,
  claim: Input,
  given: ClaimOptions = {},
  matcherOf: (sent: Input) => ClaimMatcher,
): ApiCall<FiledClaim> {
  const [own, options] = splitFields(given, "key");
  const alone = own.key !== undefined && context.shared === undefined ? [needsStorage("key")] : [];
  const faults = [...optionFaults(own, claimOptions), ...alone];
  return context.start(endpoint, options, async (call) => {
    const request = call.encode({ body: claim, faults });
    // `encode` has checked it.
    const sent = call.contentOf(request) as Input;
    const matcher = matcherOf(sent);
    // With `storageLost: "continue"`, the next call may not see the note of this one.
    const repeatable = own.key !== undefined && context.shared?.whenLost === "hold";
    const file = async () => {
      const recovery = {
        lookUp: (each: RequestOptions, sent: Moment) => findClaim(context, matcher, own.key, sent, each),
        repeatable,
        identifiers: matcher.identifiers,
        how: repeatable
          ? `Repeat the call with the same \`key\` (${own.key}): it looks the claim up before it files one.`
          : "Read `claims.list()` and compare the claims of this shipment with `error.identifiers`.",
      };
      const content = [nameOf(endpoint), withoutPhotos(sent)];
      const identifier = own.key === undefined ? canonicalJson(content) : `key:${own.key}`;
      const { data, response, existed, recovered } = await once(call, context.shared, {
        kind: "claim",
        identifier,
        content,
        isKept: own.key !== undefined,
        oneByOne: sent.shipmentReference,
        remember: (storage, { reference }) =>
          storage.keep(filedKey(reference), toJson({ version: 1, key: own.key }), { ttl: noteLifetime }),
        refuse: (filed) => otherClaim(call.name, filed),
        recovery,
        make: (sending, since) => settleOrCreate(call, request, recovery, context.doubts, identifier, sending, since),
      });
      context.known.recordFiled(data.reference);
      return { data: { ...data, existed, recovered }, response };
    };
    return context.mutex.take(sent.shipmentReference, file, (turn) => call.within(turn));
  });
}

/** Retracts a claim. A look-up reads its status before the request is sent again. */
export function retract(
  context: ClaimsContext,
  claimReference: ClaimReference,
  options: RequestOptions | undefined,
): ApiCall<void> {
  return context.start(retractClaim, options, async (call) => {
    let status: Claim["status"] | undefined;
    const request = call.encode({ path: { claimReference } });
    const recovery = {
      lookUp: async (each: RequestOptions) => {
        const { data, response } = await readClaim(context, claimReference, each, ["status"]);
        status = data.status;
        return status === "retracted" ? { data: undefined, response } : undefined;
      },
      // A decided claim can no longer be retracted.
      ruledOut: () => status === "resolved" || status === "rejected",
      repeatable: true,
      identifiers: { claimReference },
      how: `Read \`claims.get("${claimReference}")\`: the claim is retracted if its status is \`retracted\`.`,
    };
    const { response } = await once<void>(call, context.shared, {
      kind: "retraction",
      identifier: claimReference,
      content: claimReference,
      isKept: true,
      recovery,
      make: (sending, since) => settleOrCreate(call, request, recovery, context.doubts, claimReference, sending, since),
    });
    return { data: undefined, response };
  });
}

const readClaim = (
  { send }: ClaimsContext,
  claimReference: ClaimReference,
  options: RequestOptions,
  needs: readonly string[],
) => send(getClaim, { path: { claimReference } }, options, { needs, internal: true }).withResponse();

/** Maximum milliseconds between `created` and the header `Date`: both can be truncated to seconds, and can come from different clocks. */
const uncertainty = 2_000;
/** Maximum milliseconds between the service's clock and this clock, for responses without a `Date`. */
const unknownClocks = 3_600_000;

/** The earliest possible `created` of a claim, by the service's clock. */
function earliestCreated(response: ResponseHead, sent: Moment, clock: PartnerClock): number {
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? sent.date - unknownClocks : date - longestSince(sent, clock) - uncertainty;
}

/** The storage key for a filed claim. Its value has the `key` of the call that filed the claim. */
const filedKey = (reference: ClaimReference): string => `claim-filed:${reference}`;

/**
 * Whether another call filed the claim: one with another `key`, or any call if this one has no key.
 *
 * @throws `StorageError` while the storage is lost: then the claim of another call could be taken for this one.
 */
async function isFiledByOther(
  { open, whenLost }: SharedStorage,
  reference: ClaimReference,
  key: string | undefined,
): Promise<boolean> {
  const stored = await (await open()).find(filedKey(reference));
  if (stored === "lost") {
    if (whenLost === "continue") return false;
    throw new StorageError({
      message: `The storage cannot be reached, so it is not known whether another call filed ${reference}.`,
    });
  }
  const filed = fromJson(stored);
  return filed !== undefined && (key === undefined || propertyOf(filed, "key") !== key);
}

const isTime = (value: unknown): boolean => typeof value === "string" && isTimestamp(value);

/** The list needs to show only the reference of a claim: the rest can be read. */
const listUse = { needs: ["reference"], internal: true };

/**
 * Finds the claim that was first sent at `sent`. Claims do not match if this client had read them before, if another call filed them (the
 * storage knows it), or if they were created earlier by the service's clock. Throws if more than one claim matches and there is no `key`, or
 * if the only one has another comment: it may be that of another call whose response was lost, too.
 */
async function findClaim(
  context: ClaimsContext,
  { needs, comment, matchesSummary = () => true, matches }: ClaimMatcher,
  key: string | undefined,
  sent: Moment,
  options: RequestOptions,
): Promise<Found<CreatedClaim> | undefined> {
  const found: (Found<CreatedClaim> & { readonly isOther: boolean; readonly created: number })[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  const { send, clock, known, shared } = context;
  const fetchPage = async (cursor: string | undefined, each: RequestOptions) => {
    const { data, response } = await send(listClaims, { query: { cursor } }, each, listUse).withResponse();
    earliest = Math.min(earliest, earliestCreated(response, sent, clock));
    return data;
  };
  const claims = new Paginator<ClaimSummary>(nameOf(listClaims), fetchPage, options);
  for await (const summary of claims) {
    // If the list lacks the time, the claim itself must have it.
    const [isEarlier, missing] = isTime(summary.created)
      ? [latestTime(summary.created) < earliest, []]
      : [false, ["created"]];
    if (isEarlier || known.wasKnown(summary.reference, sent.at)) continue;
    if (summary.status === "retracted" || !matchesSummary(summary)) continue;
    const { data, response } = await readClaim(context, summary.reference, options, [
      "reference",
      ...needs,
      ...missing,
    ]);
    if (missing.length > 0 && latestTime(data.created) < earliest) continue;
    if (!matches(data) || (shared && (await isFiledByOther(shared, data.reference, key)))) continue;
    const { reference } = data;
    const created = latestTime(missing.length > 0 ? data.created : summary.created);
    found.push({ data: { reference }, response, isOther: isOtherComment(data.comment, comment), created });
  }
  const same = found.filter(({ isOther }) => !isOther);
  const candidates = same.length > 0 ? same : found;
  if (candidates.length > 1 && (key === undefined || same.length === 0)) {
    throw new Error(`${candidates.length} claims match: ${candidates.map(({ data }) => data.reference).join(", ")}`);
  }
  // Calls with other keys have filed equal claims. The oldest is right: theirs may have begun later, and the storage remembers whose it is.
  const [claim] = candidates.toSorted((one, other) => one.created - other.created);
  if (claim?.isOther) throw new Error(`${claim.data.reference} has the same lines and another comment`);
  return claim;
}

/** Whether a claim has another comment than was sent. The service may leave the field out; null is no comment. */
const isOtherComment = (existing: Claim["comment"], sent: string | undefined): boolean =>
  sent !== undefined && existing !== undefined && !isAlike(existing ?? "", sent);

/** The category that is reserved for the package-missing operation (specification 2.8). */
const packageMissing = /^package missing$/i;

/**
 * A package-missing claim is recognized by its shipment. The service accepts such a claim only if the shipment has no other claim
 * (specification 4.9). A claim of another category therefore leaves the outcome unknown.
 */
export const packageMissingMatcher = ({ shipmentReference }: PackageMissingInput): ClaimMatcher => ({
  identifiers: { shipmentReference },
  needs: ["shipmentReference", "claimlines", "claimcategory", "name"],
  matches: (claim) => {
    if (claim.shipmentReference !== shipmentReference) return false;
    if (claim.claimlines.every(({ claimcategory }) => packageMissing.test(claimcategory.name))) return true;
    throw new Error(`The shipment already has another claim: ${claim.reference}`);
  },
});

/** The number of units of each orderline and category. The service may join lines that differ only in their photos. */
function unitsOf(lines: readonly (readonly [orderlineIndex: number, category: string, quantity: number])[]): string {
  const units = new Map<string, number>();
  for (const [orderlineIndex, category, quantity] of lines) {
    const key = `${orderlineIndex} ${category}`;
    units.set(key, (units.get(key) ?? 0) + quantity);
  }
  return [...units]
    .map(([key, quantity]) => `${key} ${quantity}`)
    .sort()
    .join();
}

/** An item-issues claim is recognized by its shipment, its order, the units of its lines and its comment. */
export const itemIssuesMatcher = ({
  shipmentReference,
  orderReference,
  claimlines,
  comment = "",
}: ItemIssuesInput): ClaimMatcher => ({
  identifiers: { shipmentReference, orderReference, claimlines },
  comment,
  needs: ["shipmentReference", "claimlines", "orderlineIndex", "claimcategory", "quantity"],
  matchesSummary: (claim) => typeof claim.orderReference !== "string" || claim.orderReference === orderReference,
  matches: (claim) =>
    claim.shipmentReference === shipmentReference &&
    unitsOf(claim.claimlines.map((line) => [line.orderlineIndex, line.claimcategory.reference, line.quantity])) ===
      unitsOf(claimlines.map((line) => [line.orderlineIndex, line.claimcategoryReference, line.quantity])),
});
