import * as z from "zod/mini";
import { array } from "../../schemas/shape.ts";

/** The shipping levels, from lowest to highest (specification 4.7). */
export const shippingLevels = ["basic", "tracked", "express"] as const;

/** The shipping level: `basic` (no tracking), `tracked`, or `express` (faster, with tracking) (specification 1). A strict enum (9.6). */
export type ShippingLevel = (typeof shippingLevels)[number];
export const shippingLevel = () => z.enum(shippingLevels);

/** The orderlines of an order or a quote: at least one. */
export const orderlines = <Line>(line: z.ZodMiniType<Line>) =>
  array(line).check(z.minLength(1, { error: "expected at least one orderline" }));

/** The kinds of shipping (specification 1). */
const shippingKinds = ["dropship", "combined"] as const;

/** Adds the rules for shipping kind, address and shipping level. They are reported together with the faults of single fields. */
export function byShippingKind(fields: z.core.$ZodLooseShape, address: z.core.$ZodType): z.ZodMiniType {
  const has = (value: object, field: string) => Reflect.get(value, field) !== undefined;
  const rule = (kind: (typeof shippingKinds)[number], holds: (value: object) => boolean, path: string, error: string) =>
    z.refine((value) => Reflect.get(Object(value), "shippingKind") !== kind || holds(Object(value)), {
      path: [path],
      error,
      when: ({ value }) => typeof value === "object" && value !== null,
    });
  return z
    .strictObject({
      ...fields,
      shippingKind: z.enum(shippingKinds),
      dropshipAddress: z.optional(address),
      dropshipMinimalShippingLevel: z.optional(shippingLevel()),
    })
    .check(
      rule(
        "dropship",
        (order) => has(order, "dropshipAddress"),
        "dropshipAddress",
        "is required for a dropship order (missing_address)",
      ),
      rule(
        "combined",
        (order) => !has(order, "dropshipAddress"),
        "dropshipAddress",
        "is not allowed for a combined order, which ships to the store's combined address",
      ),
      rule(
        "combined",
        (order) => !has(order, "dropshipMinimalShippingLevel"),
        "dropshipMinimalShippingLevel",
        "is not allowed for a combined order, which has no shipping level",
      ),
    );
}
