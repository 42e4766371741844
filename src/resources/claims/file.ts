import * as z from "zod/mini";
import { type Issue, RequestValidationError } from "../../errors/validation.ts";
import type { Found } from "../../http/call.ts";
import { type Doubts, mostInDoubt, settleOrCreate } from "../../http/create-once.ts";
import { type Endpoint, nameOf } from "../../http/endpoint.ts";
import { custom, optionFaults, type RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send, SharedStorage, Start } from "../../http/send.ts";
import { Paginator } from "../../pagination/paginator.ts";
import type { ClaimReference, ShipmentReference } from "../../references/references.ts";
import type { Schema } from "../../schemas/shape.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { longestSince, type Moment, type PartnerClock } from "../../util/clock.ts";
import { KeyedMutex } from "../../util/concurrency.ts";
import { canonicalJson } from "../../util/digest.ts";
import { splitFields } from "../../util/fields.ts";
import { propertyOf } from "../../util/foreign.ts";
import { Latest } from "../../util/latest.ts";
import type { ResponseHead } from "../../util/response-head.ts";
import { isTimestamp, latestTime } from "../../util/timestamp.ts";
import { needsStorage, noteLife, once } from "../once.ts";
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

/** Maximum number of remembered claims. */
const capacity = 10_000;

/** Remembers the claims that a client has seen. A claim seen before a request was sent cannot be the result of that request. */
export class KnownClaims {
  readonly #clock: PartnerClock;
  /** When each claim was first seen, in milliseconds of the clock. */
  readonly #since = new Latest<number>(capacity);

  constructor(clock: PartnerClock) {
    this.#clock = clock;
  }

  /** Records that a claim was read. */
  recordRead({ reference }: { readonly reference: ClaimReference }): void {
    if (this.#since.get(reference) === undefined) this.#since.set(reference, this.#clock.now());
  }

  /** Records that a call filed a claim. The claim cannot be the result of another call. */
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
  doubts: new Latest(mostInDoubt),
});

/** What filing and retracting a claim needs of the client. */
export interface Filing extends ClaimsMemory {
  readonly send: Send;
  readonly start: Start;
  readonly clock: PartnerClock;
  readonly shared: SharedStorage | undefined;
}

/** Options of {@link ClaimsResource.createPackageMissing} and {@link ClaimsResource.createItemIssues}. */
export interface ClaimOptions extends RequestOptions {
  /**
   * Your own name of the claim, for example the number of a return, so that it is filed once, by any process and after any kill. It stays in
   * the `storage` and is not sent. Default: none; an equal claim after a finished one is a new claim.
   */
  readonly key?: string | undefined;
}

const claimOptions: Schema = () =>
  z.strictObject({ key: custom((key) => typeof key === "string" && key !== "", "expected a text that is not empty") });

/** A claim without its photos: a job that runs again uploads them again, and they have other references. */
const withoutPhotos = (claim: object): unknown =>
  JSON.parse(JSON.stringify(claim, (name, value) => (name === "evidenceReferences" ? undefined : value)));

/** A key stands for one claim: the partner may have used it for another one by mistake. */
const otherClaim = (endpoint: string, filed: CreatedClaim | undefined): RequestValidationError => {
  const claim = filed === undefined ? "" : `, ${filed.reference},`;
  return new RequestValidationError({
    endpoint,
    issues: [{ path: ["key"], message: `is the key of another claim${claim} with other content` }],
  });
};

/** How a claim is recognized whose response was lost. */
interface ClaimMatcher {
  /** What identifies the claim, for the caller. */
  readonly identifiers: Readonly<Record<string, unknown>>;
  /** The fields that show it. */
  readonly needs: readonly string[];
  /** Whether it can be the claim of this summary. Default: any claim. */
  readonly matchesSummary?: (claim: ClaimSummary) => boolean;
  readonly matches: (claim: Claim) => boolean;
}

/** Files a claim. Claims about one shipment are filed one after the other, because a look-up cannot distinguish two equal claims. */
export function fileClaim<Input extends { readonly shipmentReference: ShipmentReference }>(
  filing: Filing,
  endpoint: Endpoint<{ readonly body: Input; readonly faults?: readonly Issue[] }, CreatedClaim>,
  claim: Input,
  given: ClaimOptions = {},
  matcherOf: (sent: Input) => ClaimMatcher,
): ApiCall<FiledClaim> {
  const [own, options] = splitFields(given, "key");
  const alone = own.key !== undefined && filing.shared === undefined ? [needsStorage("key")] : [];
  const faults = [...optionFaults(own, claimOptions), ...alone];
  return filing.start(endpoint, options, async (call) => {
    const request = call.encode({ body: claim, faults });
    // The check of the request has passed.
    const sent = call.contentOf(request) as Input;
    const matcher = matcherOf(sent);
    const file = async () => {
      const recovery = {
        look: (each: RequestOptions, sent: Moment) => findClaim(filing, matcher, own.key, sent, each),
        repeatable: false,
        identifiers: matcher.identifiers,
        how: "Read `claims.list()` and compare the claims of this shipment with `error.identifiers`.",
      };
      const content = [nameOf(endpoint), withoutPhotos(sent)];
      const identifier = own.key === undefined ? canonicalJson(content) : `key:${own.key}`;
      const { data, response, existed, recovered } = await once(call, filing.shared, {
        kind: "claim",
        identifier,
        content,
        isKept: own.key !== undefined,
        oneByOne: sent.shipmentReference,
        remember: (storage, { reference }) =>
          storage.keep(filedKey(reference), toJson({ version: 1, key: own.key }), { ttl: noteLife }),
        refuse: (filed) => otherClaim(call.name, filed),
        recovery,
        make: (sending, since) => settleOrCreate(call, request, recovery, filing.doubts, identifier, sending, since),
      });
      filing.known.recordFiled(data.reference);
      return { data: { ...data, existed, recovered }, response };
    };
    return filing.mutex.take(sent.shipmentReference, file, (turn) => call.within(turn));
  });
}

/** Retracts a claim. A look-up reads its status before the request is sent again. */
export function retract(
  filing: Filing,
  claimReference: ClaimReference,
  options: RequestOptions | undefined,
): ApiCall<void> {
  return filing.start(retractClaim, options, async (call) => {
    let status: Claim["status"] | undefined;
    const request = call.encode({ path: { claimReference } });
    const recovery = {
      look: async (each: RequestOptions) => {
        const { data, response } = await readClaim(filing, claimReference, each, ["status"]);
        status = data.status;
        return status === "retracted" ? { data: undefined, response } : undefined;
      },
      // A decided claim can no longer be retracted.
      ruledOut: () => status === "resolved" || status === "rejected",
      repeatable: true,
      identifiers: { claimReference },
      how: `Read \`claims.get("${claimReference}")\`: the claim is retracted if its status is \`retracted\`.`,
    };
    const { response } = await once<void>(call, filing.shared, {
      kind: "retraction",
      identifier: claimReference,
      content: claimReference,
      isKept: true,
      recovery,
      make: (sending, since) => settleOrCreate(call, request, recovery, filing.doubts, claimReference, sending, since),
    });
    return { data: undefined, response };
  });
}

const readClaim = (
  { send }: Filing,
  claimReference: ClaimReference,
  options: RequestOptions,
  needs: readonly string[],
) => send(getClaim, { path: { claimReference } }, options, { needs, internal: true }).withResponse();

/** Maximum difference between `created` and the header `Date` in milliseconds: both can be cut to seconds, and come from two clocks. */
const uncertainty = 2_000;
/** Maximum difference between the service's clock and this clock, if no response has a `Date`. */
const unknownClocks = 3_600_000;

/** The earliest possible `created` of a claim, by the service's clock. */
function earliestCreated(response: ResponseHead, sent: Moment, clock: PartnerClock): number {
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? sent.date - unknownClocks : date - longestSince(sent, clock) - uncertainty;
}

/** What the storage calls a claim whose call has ended, under which it has the `key` of that call. */
const filedKey = (reference: ClaimReference): string => `claim-filed:${reference}`;

/** Whether a claim is that of another call: one with another `key`, or any without one. */
async function isOfOther(storage: ClientStorage, reference: ClaimReference, key: string | undefined): Promise<boolean> {
  const filed = fromJson(await storage.get(filedKey(reference)));
  return filed !== undefined && (key === undefined || propertyOf(filed, "key") !== key);
}

const isTime = (value: unknown): boolean => typeof value === "string" && isTimestamp(value);

/** A claim of which the list shows no more than its reference is read. */
const ofList = { needs: ["reference"], internal: true };

/**
 * Finds the claim that was first sent at `sent`. A claim that this client already knew at that time, that another call has filed by the
 * storage, or that was created earlier by the service's clock, does not match. Throws if more than one claim matches.
 */
async function findClaim(
  filing: Filing,
  { needs, matchesSummary = () => true, matches }: ClaimMatcher,
  key: string | undefined,
  sent: Moment,
  options: RequestOptions,
): Promise<Found<CreatedClaim> | undefined> {
  const found: Found<CreatedClaim>[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  const { send, clock, known, shared } = filing;
  const storage = await shared?.open();
  const fetchPage = async (cursor: string | undefined, each: RequestOptions) => {
    const { data, response } = await send(listClaims, { query: { cursor } }, each, ofList).withResponse();
    earliest = Math.min(earliest, earliestCreated(response, sent, clock));
    return data;
  };
  const claims = new Paginator<ClaimSummary>(nameOf(listClaims), fetchPage, options);
  for await (const summary of claims) {
    // A list can lack the time, which the claim itself must then have.
    const [isEarlier, missing] = isTime(summary.created)
      ? [latestTime(summary.created) < earliest, []]
      : [false, ["created"]];
    if (isEarlier || known.wasKnown(summary.reference, sent.at)) continue;
    if (summary.status === "retracted" || !matchesSummary(summary)) continue;
    const { data, response } = await readClaim(filing, summary.reference, options, ["reference", ...needs, ...missing]);
    if (missing.length > 0 && latestTime(data.created) < earliest) continue;
    if (!matches(data) || (storage !== undefined && (await isOfOther(storage, data.reference, key)))) continue;
    found.push({ data: { reference: data.reference }, response });
  }
  if (found.length > 1) {
    throw new Error(`${found.length} claims match: ${found.map(({ data }) => data.reference).join(", ")}`);
  }
  return found[0];
}

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

/** The units of each orderline and category. The service may join lines that differ in their photos only. */
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

/** An item-issues claim is recognized by its shipment, its order and the units of its lines. */
export const itemIssuesMatcher = ({
  shipmentReference,
  orderReference,
  claimlines,
}: ItemIssuesInput): ClaimMatcher => ({
  identifiers: { shipmentReference, orderReference, claimlines },
  needs: ["shipmentReference", "claimlines", "orderlineIndex", "claimcategory", "quantity"],
  matchesSummary: (claim) => typeof claim.orderReference !== "string" || claim.orderReference === orderReference,
  matches: (claim) =>
    claim.shipmentReference === shipmentReference &&
    unitsOf(claim.claimlines.map((line) => [line.orderlineIndex, line.claimcategory.reference, line.quantity])) ===
      unitsOf(claimlines.map((line) => [line.orderlineIndex, line.claimcategoryReference, line.quantity])),
});
