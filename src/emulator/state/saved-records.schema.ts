import * as z from "zod/mini";
import type { Reference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { shippingLevels } from "../../resources/orders/shipping.schema.ts";
import { count, filledText } from "../../schemas/shape.ts";
import { callbackUrl } from "../callbacks/options.ts";
import type { StoredStore } from "../catalog/organization.ts";
import { earliestTime, latestTime } from "../clock/point-in-time.ts";
import { addressTexts } from "../records/address.schema.ts";
import { filledList, list, nullable, record } from "../records/record.schema.ts";
import {
  awards,
  type Parcel,
  type StoredAddress,
  type StoredClaim,
  type StoredClaimline,
  type StoredDecision,
  type StoredEvidence,
  type StoredImage,
  type StoredLine,
  type StoredLineDecision,
  type StoredOrder,
  type StoredRender,
  type StoredShipment,
} from "../records/records.ts";

/** A time that the service can show as a timestamp. */
export const time = () => z.number().check(z.gte(earliestTime), z.lte(latestTime));

/** A time at which something happens. It can be later than any time of the clock: then it never happens. */
export const dueTime = () => z.number().check(z.gte(earliestTime));

/** The steps of an order. */
export const orderTasks = () =>
  [
    z.strictObject({ kind: z.literal("startProduction"), order: reference("Order") }),
    z.strictObject({ kind: z.literal("ship"), order: reference("Order"), part: count(1) }),
  ] as const;

const store = () =>
  record<StoredStore>({
    reference: reference("Store"),
    name: filledText(),
    legacyCode: filledText(),
    account: z.string(),
    brand: z.string(),
    integration: z.string(),
    callbackUrl: nullable(callbackUrl()),
  });

const address = () =>
  record<StoredAddress>({
    reference: reference("Address"),
    address: record<StoredAddress["address"]>({ ...addressTexts(), countryCode: z.string() }),
    uses: count(0),
  });

const image = () => record<StoredImage>({ reference: reference("Image") });

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const evidence = () =>
  record<StoredEvidence>({
    reference: reference("Evidence"),
    content: z.string().check(z.regex(base64, "expected base64")),
    created: time(),
    claim: z.optional(reference("Claim")) as z.core.$ZodType<Reference<"Claim">>,
  });

const render = () =>
  record<StoredRender>({
    reference: reference("Render"),
    compositionReference: reference("Composition"),
    imageReference: reference("Image"),
    created: time(),
    completed: dueTime(),
    failed: z.boolean(),
  });

const line = () =>
  record<StoredLine>({
    index: count(1),
    productReference: reference("Product"),
    imageReference: nullable(reference("Image")),
    quantity: count(1),
    annotations: list(record<StoredLine["annotations"][number]>({ key: z.string(), value: z.string() })),
    canceledQuantity: count(0),
    shippedQuantity: count(0),
  });

const order = () =>
  record<StoredOrder>({
    reference: reference("Order"),
    created: time(),
    storeReference: reference("Store"),
    legacyOrderCode: filledText(),
    customIdentifier: z.optional(z.string()),
    shippingKind: z.enum(["dropship", "combined"]),
    minimalLevel: z.enum(shippingLevels),
    lines: filledList(line()),
    settles: z.optional(reference("Claim")),
    viaStoreCode: z.optional(z.string()) as z.core.$ZodType<string>,
    dropshipAddressReference: nullable(reference("Address")),
    onHold: nullable(record<NonNullable<StoredOrder["onHold"]>>({ reason: z.string() })),
    inProduction: z.boolean(),
    postponed: nullable(z.discriminatedUnion("kind", orderTasks())),
  });

const parcel = () =>
  record<Parcel>({
    orderReference: reference("Order"),
    lines: filledList(record<Parcel["lines"][number]>({ index: count(1), quantity: count(1) })),
  });

const shipment = () =>
  record<StoredShipment>({
    reference: reference("Shipment"),
    parcels: filledList(parcel()),
    level: z.enum(shippingLevels),
    addressReference: nullable(reference("Address")),
    shipped: time(),
  });

const claimline = () =>
  record<StoredClaimline>({
    orderReference: reference("Order"),
    orderlineIndex: count(1),
    productReference: reference("Product"),
    imageReference: nullable(reference("Image")),
    quantity: count(1),
    categoryReference: reference("Claimcategory"),
    evidence: list(reference("Evidence")),
  });

const decision = () =>
  record<StoredDecision>({
    award: z.enum([...awards, "mixed"]),
    decided: time(),
    refundShippingCosts: z.boolean(),
    comment: z.string(),
    lines: list(
      record<StoredLineDecision>({
        replacement: count(0),
        refund: count(0),
        rejection: count(0),
        comment: z.string(),
      }),
    ),
  });

const claim = () =>
  record<StoredClaim>({
    reference: reference("Claim"),
    orderReference: reference("Order"),
    shipmentReference: reference("Shipment"),
    comment: z.string(),
    created: time(),
    createdBy: reference("Key"),
    lines: filledList(claimline()),
    evidence: list(reference("Evidence")),
    decision: nullable(decision()),
    retracted: nullable(time()),
    replacement: nullable(reference("Order")),
  });

/** The lists of records of an organization. */
export const savedRecords = () => ({
  stores: list(store()),
  addresses: list(address()),
  images: list(image()),
  evidence: list(evidence()),
  renders: list(render()),
  orders: list(order()),
  shipments: list(shipment()),
  claims: list(claim()),
});
