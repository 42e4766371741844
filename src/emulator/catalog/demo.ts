import type { Reference, ReferenceKind } from "../../references/references.ts";
import type { ReferenceMaker } from "../core/reference-maker.ts";
import { claimcategoryTable } from "./claimcategories.ts";
import { storeTable } from "./organization.ts";
import { type ProductName, productgroupTable, productTable } from "./product-table.ts";
import { compositionName, compositionTable, perspectiveTable, sceneTable } from "./rendering.ts";

/** The references of the demo catalog, by name. `seed.number` gives the same ones each time. */
export interface DemoCatalog {
  /** `api` and `wholesale` accept orders. `shopify` refuses them with 403 `store_not_writable_via_api`. */
  readonly stores: Readonly<Record<keyof typeof storeTable, Reference<"Store">>>;
  readonly productgroups: Readonly<Record<keyof typeof productgroupTable, Reference<"Productgroup">>>;
  /**
   * The stages: `slimCase`, `slimCasePro`, `toughCase` and others are launched, `slimCaseNext` is prelaunched, `slimCase15` sunsetted,
   * `slimCaseFold` announced, `slimCase13` ended, `slimCase8` archived. `screenProtector` is not printed.
   */
  readonly products: Readonly<Record<ProductName, Reference<"Product">>>;
  /** `studio` and `campaign` allow product perspectives. `desk` does not. */
  readonly scenes: Readonly<Record<keyof typeof sceneTable, Reference<"Scene">>>;
  /** `front` belongs to `studio` and `desk`, `angled` to `studio` and `campaign`. */
  readonly perspectives: Readonly<Record<keyof typeof perspectiveTable, Reference<"Perspective">>>;
  /**
   * A slim case in three scenes: a render costs 1 rendertoken in `studio`, 2 in `desk` and 5 in `campaign`. `archived` existed, and its
   * look-up responds with 410. A look-up of a combination that never existed responds with 404 (specification 4.6).
   */
  readonly compositions: Readonly<Record<keyof typeof compositionTable, Reference<"Composition">>>;
  /** `misprint` and `damaged` require evidence. `packageMissing` is reserved for package-missing claims. */
  readonly claimcategories: Readonly<Record<keyof typeof claimcategoryTable, Reference<"Claimcategory">>>;
}

/** Makes the reference of each row of the tables. */
export function createDemoCatalog(make: ReferenceMaker): DemoCatalog {
  const named = <Kind extends ReferenceKind, Name extends string>(kind: Kind, table: Readonly<Record<Name, unknown>>) =>
    Object.fromEntries(Object.keys(table).map((name) => [name, make.named(kind, name)])) as Record<
      Name,
      Reference<Kind>
    >;
  const compositions = Object.entries(compositionTable).map(([name, [scene, product, perspective]]) => {
    const parts = [
      make.named("Scene", scene),
      make.named("Product", product),
      make.named("Perspective", perspective),
    ] as const;
    return [name, make.named("Composition", compositionName(...parts))];
  });
  return {
    compositions: Object.fromEntries(compositions),
    stores: named("Store", storeTable),
    productgroups: named("Productgroup", productgroupTable),
    products: named("Product", productTable),
    scenes: named("Scene", sceneTable),
    perspectives: named("Perspective", perspectiveTable),
    claimcategories: named("Claimcategory", claimcategoryTable),
  };
}
