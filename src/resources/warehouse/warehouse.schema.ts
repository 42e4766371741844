import * as z from "zod/mini";
import type { ItemReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** A physical stock unit that you own and the operator stores (specification 2.10). */
export interface WarehouseItem {
  readonly reference: ItemReference;
  /** Warehouse identifier; not the suffixed legacy SKU of a product. */
  readonly sku: string;
  /** The specification names it beside `physicalQuantity` and does not say how the two differ (2.10). */
  readonly logicalQuantity: number;
  /** The specification names it beside `logicalQuantity` and does not say how the two differ (2.10). */
  readonly physicalQuantity: number;
  /** The products linked to it. The shape of an entry is not shown. */
  readonly products: readonly unknown[];
}

export const item = () =>
  open<WarehouseItem>({
    reference: reference("Item"),
    sku: z.string(),
    logicalQuantity: z.number(),
    physicalQuantity: z.number(),
    products: z.array(z.unknown()),
  });
