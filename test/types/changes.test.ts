import type {
  ApiCall,
  ItemReference,
  ListChanges,
  ListSnapshot,
  PodPartner,
  Product,
  ProductDetail,
  ProductReference,
  WarehouseItem,
} from "pod-partner";
import { describe, expectTypeOf, it } from "vitest";
import type { ListChange } from "../../src/changes/list-changes.ts";

declare const partner: PodPartner;
type ProductSnapshot = ListSnapshot<Product>;
type ItemSnapshot = ListSnapshot<WarehouseItem>;

/** JSON as the types of a database library describe it. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

const plain = (since: ProductSnapshot) => partner.catalog.products.changes({ since });
const detailed = (since: ProductSnapshot) => partner.catalog.products.changes({ since, details: true });
const either = (details: boolean) => partner.catalog.products.changes({ details });
const items = (since: ItemSnapshot | null | undefined) => partner.warehouse.items.changes({ since });

describe("the types of changes", () => {
  it("are those of the list, or of the details with `details: true`", () => {
    expectTypeOf<ReturnType<typeof plain>>().toEqualTypeOf<ApiCall<ListChanges<Product>>>();
    expectTypeOf<ReturnType<typeof detailed>>().toEqualTypeOf<ApiCall<ListChanges<Product, ProductDetail>>>();
    expectTypeOf<ReturnType<typeof either>>().toEqualTypeOf<ApiCall<ListChanges<Product>>>();
    expectTypeOf<ReturnType<typeof items>>().toEqualTypeOf<ApiCall<ListChanges<WarehouseItem>>>();
    expectTypeOf<ListChange<Product, ProductDetail>["current"]>().toEqualTypeOf<ProductDetail>();
    type Removal = ListChanges<Product, ProductDetail>["removed"][number];
    expectTypeOf<Removal["previous"]["reference"]>().toEqualTypeOf<ProductReference>();
    expectTypeOf<Removal>().not.toHaveProperty("current");
    type Addition = ListChanges<Product, ProductDetail>["added"][number];
    expectTypeOf<Addition>().toEqualTypeOf<{ readonly current: ProductDetail }>();
  });

  it("complete the names of known fields and accept unknown ones", () => {
    expectTypeOf<"availableQuantity">().toExtend<ListChange<Product>["fields"][number]>();
    expectTypeOf<string>().toExtend<ListChange<Product>["fields"][number]>();
    expectTypeOf<ListChange<Product>["previous"]["availableQuantity"]>().toEqualTypeOf<number | null | undefined>();
    expectTypeOf<ListChange<WarehouseItem>["previous"]["reference"]>().toEqualTypeOf<ItemReference>();
  });

  it("keep snapshots of different lists apart", () => {
    expectTypeOf<ProductSnapshot["kind"]>().toEqualTypeOf<"Product">();
    expectTypeOf<ItemSnapshot["kind"]>().toEqualTypeOf<"Item">();
    expectTypeOf<ItemSnapshot>().not.toExtend<ProductSnapshot>();
    expectTypeOf<ListChanges<Product, ProductDetail>["snapshot"]>().toEqualTypeOf<ProductSnapshot>();
  });

  it("let a snapshot be stored where a database library takes JSON", () => {
    expectTypeOf<ProductSnapshot>().toExtend<Json>();
  });
});
