import * as z from "zod/mini";
import { cursor, endpoint, page } from "../../http/endpoint.ts";
import type { ItemReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { array, open } from "../../schemas/shape.ts";

/** A warehouse item: a physical stock unit that you own and the operator stores (specification 1, 2.10). */
export interface WarehouseItem {
  readonly reference: ItemReference;
  /** The warehouse SKU. It can differ from the legacy SKU of a product, which can have a suffix. */
  readonly sku: string;
  /** The logical quantity. The specification does not say how it differs from `physicalQuantity` (2.10). */
  readonly logicalQuantity: number;
  /** The physical quantity. The specification does not say how it differs from `logicalQuantity` (2.10). */
  readonly physicalQuantity: number;
  /** The linked products. The specification does not show the shape of an entry. */
  readonly products: readonly unknown[];
}

const item = () =>
  open<WarehouseItem>({
    reference: reference("Item"),
    sku: z.string(),
    logicalQuantity: z.number(),
    physicalQuantity: z.number(),
    products: array(z.unknown()),
  });

export const listItems = endpoint({
  call: "warehouse.items.list",
  method: "GET",
  path: "/items",
  query: cursor,
  response: page("items", item),
  repeat: "safe",
});
