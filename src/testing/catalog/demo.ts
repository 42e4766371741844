import type { Reference, ReferenceKind } from "../../references/references.ts";
import type { ReferenceMaker } from "../state/reference-maker.ts";
import { claimcategoryTable } from "./claimcategories.ts";
import { storeTable } from "./organization.ts";
import { type ProductName, productgroupTable, productTable } from "./product-table.ts";
import { perspectiveTable, sceneTable } from "./rendering.ts";

/** The references of the demo catalog, by name: the same in every run of an environment. */
export interface DemoCatalog {
  /** `api` and `wholesale` can be ordered in; `shopify` answers 403 `store_not_writable_via_api`. */
  readonly stores: Readonly<Record<keyof typeof storeTable, Reference<"Store">>>;
  readonly productgroups: Readonly<Record<keyof typeof productgroupTable, Reference<"Productgroup">>>;
  /**
   * By stage: `slimCase`, `slimCasePro`, `toughCase`, … are launched, `slimCaseNext` is prelaunched, `slimCase15` sunsetted,
   * `slimCaseFold` announced, `slimCase13` ended, `slimCase8` archived. `screenProtector` is not printed.
   */
  readonly products: Readonly<Record<ProductName, Reference<"Product">>>;
  /** `studio` and `campaign` allow product perspectives, `desk` does not. */
  readonly scenes: Readonly<Record<keyof typeof sceneTable, Reference<"Scene">>>;
  /** `front` is of `studio` and `desk`, `angled` of `studio` and `campaign`. */
  readonly perspectives: Readonly<Record<keyof typeof perspectiveTable, Reference<"Perspective">>>;
  /** `misprint` and `damaged` need evidence; `packageMissing` is reserved. */
  readonly claimcategories: Readonly<Record<keyof typeof claimcategoryTable, Reference<"Claimcategory">>>;
}

/** Names the references of a table's rows. */
export function createDemoCatalog(make: ReferenceMaker): DemoCatalog {
  const named = <Kind extends ReferenceKind, Name extends string>(kind: Kind, table: Readonly<Record<Name, unknown>>) =>
    Object.fromEntries(Object.keys(table).map((name) => [name, make.named(kind, name)])) as Record<
      Name,
      Reference<Kind>
    >;
  return {
    stores: named("Store", storeTable),
    productgroups: named("Productgroup", productgroupTable),
    products: named("Product", productTable),
    scenes: named("Scene", sceneTable),
    perspectives: named("Perspective", perspectiveTable),
    claimcategories: named("Claimcategory", claimcategoryTable),
  };
}
