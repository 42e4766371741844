import * as z from "zod/mini";
import type { ProductReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { count, filledText, strict } from "../../schemas/shape.ts";
import { type Stage, stages } from "../catalog/product-table.ts";
import { daysAgo } from "./days-ago.ts";

/** A product of a seed, beside those of the demo catalog. */
export interface SeedProduct {
  /** Orderlines of the seed name the product by it. */
  readonly name: string;
  /** Default: it derives from the name. */
  readonly reference?: ProductReference | undefined;
  /** A name in `demo.productgroups`, or a reference. Default `slimCases`. */
  readonly productgroup?: string | undefined;
  /** Default `launched`. */
  readonly status?: Stage | undefined;
  /** Whether it is printed, so that its orderlines need an image. Default true. */
  readonly printed?: boolean | undefined;
  /** Default 100. */
  readonly availableQuantity?: number | undefined;
  /** The weight of one unit; null when it has not been measured. Default 30. */
  readonly weightGrams?: number | null | undefined;
  /** The SKU of its warehouse item. Products with one SKU share an item. Default: the name in capital letters, with `-`. */
  readonly sku?: string | undefined;
  /** Days since the product was created. Default 0: it was created now. */
  readonly daysAgo?: number | undefined;
}

export const seedProduct = () =>
  strict<SeedProduct>({
    name: filledText(),
    reference: z.optional(reference("Product")),
    productgroup: z.optional(filledText()),
    status: z.optional(z.enum(stages)),
    printed: z.optional(z.boolean()),
    availableQuantity: z.optional(count(0)),
    weightGrams: z.optional(z.nullable(z.number().check(z.gte(0)))),
    sku: z.optional(filledText()),
    daysAgo: daysAgo(),
  });
