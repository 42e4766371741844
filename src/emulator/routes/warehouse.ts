import { listItems } from "../../resources/warehouse/warehouse.endpoints.ts";
import { type Route, route } from "../http/route.ts";

export const warehouseRoutes: readonly Route[] = [
  route(listItems, ({ world, query }) => {
    const { items, nextCursor } = world.items.page(query?.cursor);
    return {
      items: items.map(({ reference, sku, logicalQuantity, physicalQuantity, products }) => ({
        reference,
        sku,
        logicalQuantity,
        physicalQuantity,
        products: products.map((product) => ({ reference: product })),
      })),
      nextCursor,
    };
  }),
];
