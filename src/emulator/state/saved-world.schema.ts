import * as z from "zod/mini";
import { count, filledText, reference } from "../../schemas/shape.ts";
import type { StoredStore } from "../catalog/organization.ts";
import { stages } from "../catalog/products.ts";
import { latestTime } from "../clock/point-in-time.ts";
import { faultSchema } from "../faults/faults.ts";
import { automationFields } from "../work/automation.ts";
import { callbackUrl } from "../work/callback.ts";
import { dueTime, list, nullable, record, time } from "../work/record.schema.ts";
import { listNames, orderTasks, recordLists } from "../work/records.ts";
import type { SavedWorld } from "./saved-world.ts";

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

/** The lists of {@link recordLists}. */
const records = () => Object.fromEntries(listNames.map((name) => [name, recordLists[name]()]));

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
    stores: list(store()),
    ...records(),
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

/** Checks that a value has the form of a saved world. The schema says less than the type about the functions and bodies of faults. */
export function savedWorld(): z.ZodMiniType<SavedWorld>;
export function savedWorld(): z.ZodMiniType {
  return z.strictObject({
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
  });
}
