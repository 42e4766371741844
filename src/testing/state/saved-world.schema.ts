import * as z from "zod/mini";
import { count, filledText } from "../../schemas/shape.ts";
import { isRecord } from "../../schemas/type-guards.ts";
import { automationFields } from "../automation/options.ts";
import { stages } from "../catalog/product-table.ts";
import { faultSchema } from "../faults/fault.schema.ts";
import type { SavedWorld } from "./saved-world.ts";

/** Records of one kind. Their other fields are those that `save` wrote. One check, because a world can have 100,000 orders. */
const records = (kind: string) =>
  z.custom<readonly unknown[]>(
    (value) =>
      Array.isArray(value) &&
      value.every((record) => isRecord(record) && String(record.reference).startsWith(`${kind}_`)),
    { error: `expected a list of records whose reference begins with ${kind}_` },
  );

const key = () =>
  z.strictObject({
    reference: z.string().check(z.startsWith("Key_")),
    secretKey: filledText(),
    permissions: z.nullable(z.array(z.string())),
    revoked: z.boolean(),
    integrator: z.nullable(z.string()),
  });

const limit = () => z.strictObject({ quota: count(1), window: z.number().check(z.gte(1000)) });

const organization = () =>
  z.strictObject({
    name: filledText(),
    keys: z.array(key()).check(z.minLength(1)),
    limits: z.strictObject({ default: limit(), uploads: limit(), downloads: limit() }),
    rendertokenLimit: count(0),
    stores: records("Store"),
    addresses: records("Address"),
    images: records("Image"),
    evidence: records("Evidence"),
    renders: records("Render"),
    orders: records("Order"),
    shipments: records("Shipment"),
    claims: records("Claim"),
    rateLimits: z.record(z.string(), z.number()),
    rendertokens: z.strictObject({ used: z.number(), resets: z.number() }),
  });

const media = () => z.strictObject({ version: z.int(), modified: z.number() });

const product = () =>
  z.strictObject({
    reference: z.string(),
    status: z.enum(stages),
    availableQuantity: z.number(),
    weightGrams: z.nullable(z.number()),
    layersModified: z.number(),
    printModified: z.number(),
    media: z.strictObject({ example: media(), render: media() }),
  });

const callback = () =>
  z.strictObject({
    id: z.int(),
    orderReference: z.string(),
    storeReference: z.string(),
    url: z.string(),
    status: z.enum(["waiting", "delivered", "stopped"]),
    nextTryAt: z.nullable(z.number()),
    tried: z.int(),
    tries: z.array(
      z.strictObject({
        at: z.number(),
        status: z.nullable(z.int()),
        error: z.nullable(z.string()),
        duration: z.number(),
      }),
    ),
  });

/** Checks that a value has the form of a saved world. The fields of its records, which `save` wrote, are not checked, so the type needs a cast. */
export const savedWorld = () =>
  z.strictObject({
    version: z.literal(1),
    seed: filledText(),
    environment: z.enum(["test", "production"]),
    clock: z.strictObject({ time: z.number(), speed: z.number().check(z.gte(0)) }),
    references: z.record(z.string(), z.int()),
    products: z.array(product()),
    items: z.array(
      z.strictObject({ reference: z.string(), logicalQuantity: z.number(), physicalQuantity: z.number() }),
    ),
    faults: z.array(z.strictObject({ id: z.int(), fault: faultSchema(), seen: z.int(), hits: z.int() })),
    tasks: z.array(z.strictObject({ at: z.number(), task: z.looseObject({ kind: z.string() }) })),
    automation: z.strictObject(automationFields()),
    callbacks: z.array(callback()),
    organizations: z.array(organization()).check(z.minLength(1)),
  }) as unknown as z.ZodMiniType<SavedWorld>;
