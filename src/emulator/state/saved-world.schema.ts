import * as z from "zod/mini";
import type { Reference } from "../../references/references.ts";
import { shippingLevels } from "../../resources/orders/orders.endpoints.ts";
import { count, filledText, reference } from "../../schemas/shape.ts";
import type { StoredStore } from "../catalog/organization.ts";
import { stages } from "../catalog/products.ts";
import { earliestTime, latestTime } from "../clock/point-in-time.ts";
import { faultSchema } from "../faults/faults.ts";
import { automationFields } from "../work/automation.ts";
import { callbackUrl } from "../work/callback.ts";
import { addressTexts, filledList, list, nullable, record } from "../work/record.schema.ts";
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
} from "../work/records.ts";
import type { SavedWorld } from "./saved-world.ts";

/** A time that the service can show as a timestamp. */
const time = () => z.number().check(z.gte(earliestTime), z.lte(latestTime));

/** A time at which something happens. It can be later than any time of the clock: then it never happens. */
const dueTime = () => z.number().check(z.gte(earliestTime));

/** The steps of an order. */
const orderTasks = () =>
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
const savedRecords = () => ({
  stores: list(store()),
  addresses: list(address()),
  images: list(image()),
  evidence: list(evidence()),
  renders: list(render()),
  orders: list(order()),
  shipments: list(shipment()),
  claims: list(claim()),
});

const key = () =>
  z.strictObject({
    reference: reference("Key"),
    secretKey: filledText(),
    permissions: z.nullable(z.array(z.string())),
    revoked: z.boolean(),
    integrator: z.nullable(z.string()),
  });

const limit = () => z.strictObject({ quota: count(1), window: z.number().check(z.gte(1000)) });

/** Tokens are fractions: rounding can make them a little smaller than 0. */
const tokens = () => z.number().check(z.gte(-0.001));

const organization = () =>
  z.strictObject({
    name: filledText(),
    keys: z.array(key()).check(z.minLength(1)),
    limits: z.strictObject({ default: limit(), uploads: limit(), downloads: limit() }),
    rendertokenLimit: count(0),
    ...savedRecords(),
    rateLimits: z.strictObject({ default: tokens(), uploads: tokens(), downloads: tokens() }),
    rendertokens: z.strictObject({ used: count(0), resets: dueTime().check(z.lte(latestTime + 8 * 86_400_000)) }),
  });

const media = () => z.strictObject({ version: count(1), modified: time() });

const product = () =>
  z.strictObject({
    reference: reference("Product"),
    status: z.enum(stages),
    availableQuantity: z.nullable(count(0)),
    weightGrams: z.nullable(z.number().check(z.gte(0))),
    layersModified: time(),
    printModified: time(),
    media: z.strictObject({ example: media(), render: media() }),
  });

const addedProduct = () =>
  z.strictObject({
    reference: reference("Product"),
    name: filledText(),
    productgroup: reference("Productgroup"),
    legacyItemSKU: filledText(),
    printed: z.boolean(),
    sku: filledText(),
  });

const callback = () =>
  z.strictObject({
    id: count(1),
    orderReference: reference("Order"),
    storeReference: reference("Store"),
    url: z.string(),
    status: z.enum(["waiting", "delivered", "stopped"]),
    nextTryAt: z.nullable(dueTime()),
    tried: count(0),
    tries: z.array(
      z.strictObject({
        at: time(),
        status: z.nullable(z.int()),
        error: z.nullable(z.string()),
        duration: z.number(),
        body: z.exactOptional(z.string()),
      }),
    ),
  });

const task = () =>
  z.discriminatedUnion("kind", [
    ...orderTasks(),
    z.strictObject({ kind: z.literal("reviewClaim"), claim: reference("Claim") }),
    z.strictObject({ kind: z.literal("finishRender"), render: reference("Render") }),
    z.strictObject({ kind: z.literal("callback"), id: count(1) }),
  ]);

const item = () =>
  z.strictObject({ reference: reference("Item"), logicalQuantity: count(0), physicalQuantity: count(0) });

/** Checks that a value has the form of a saved world. The cast is for the functions and bodies of faults, and for lists that cannot change. */
export const savedWorld = () =>
  z.strictObject({
    version: z.literal(1),
    seed: filledText(),
    environment: z.enum(["test", "production"]),
    clock: z.strictObject({ time: time(), speed: z.number().check(z.gte(0)) }),
    references: z.record(z.string(), count(0)),
    products: z.array(product()),
    addedProducts: z._default(z.array(addedProduct()), []),
    items: z.array(item()),
    faults: z.array(z.strictObject({ id: count(1), fault: faultSchema(), seen: count(0), hits: count(0) })),
    tasks: z.array(z.strictObject({ at: dueTime(), task: task() })),
    automation: z.strictObject(automationFields()),
    callbacks: z.array(callback()),
    organizations: z.array(organization()).check(z.minLength(1)),
  }) as unknown as z.ZodMiniType<SavedWorld>;
