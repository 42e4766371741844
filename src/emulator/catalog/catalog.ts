import type { Reference, ReferenceKind } from "../../references/references.ts";
import type { Claimcategory } from "../../resources/claims/claims.endpoints.ts";
import { ControlError } from "../base/control-error.ts";
import type { ReferenceMaker } from "../base/reference-maker.ts";
import { Collection, type PageSizes } from "../base/table.ts";
import { storeTable } from "./organization.ts";
import {
  type AddedProduct,
  createProducts,
  type ProductName,
  type ProductState,
  productgroupTable,
  productTable,
  type StoredItem,
  type StoredProduct,
} from "./products.ts";
import { compositionName, compositionTable, createRendering, perspectiveTable, sceneTable } from "./rendering.ts";

/** The category that is reserved for package-missing claims (specification 2.8). */
export const packageMissing = "Package missing";

const claimcategoryTable = {
  packageMissing: { name: packageMissing, evidenceRequired: false },
  misprint: { name: "Misprint", evidenceRequired: true },
  damaged: { name: "Damaged in transit", evidenceRequired: true },
  wrongItem: { name: "Wrong item", evidenceRequired: false },
} as const;

const createClaimcategories = (make: ReferenceMaker): readonly Claimcategory[] =>
  Object.entries(claimcategoryTable).map(([key, category]) => ({
    reference: make.named("Claimcategory", key),
    ...category,
  }));

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
function createDemoCatalog(make: ReferenceMaker): DemoCatalog {
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

/** What every organization sees: products, scenes, perspectives, compositions and claim categories. */
export type Catalog = ReturnType<typeof createCatalog>;

/** The references by name that are asked for more than once are made once: each takes a hash. */
function remembering(make: ReferenceMaker): ReferenceMaker {
  const known = new Map<string, string>();
  const named: ReferenceMaker["named"] = (kind, name) => {
    const key = `${kind}/${name}`;
    const reference = known.get(key) ?? make.named(kind, name);
    known.set(key, reference);
    return reference as ReturnType<typeof make.named<typeof kind>>;
  };
  return { ...make, named };
}

/** Makes the demo catalog. */
export function createCatalog(references: ReferenceMaker, pageSizes: PageSizes) {
  const make = remembering(references);
  const catalog = createProducts(make, pageSizes);
  return {
    demo: createDemoCatalog(make),
    ...catalog,
    ...createRendering(make, catalog.productgroups, catalog.products),
    claimcategories: createClaimcategories(make),
    /** What a seed added to the products. */
    added: [] as AddedProduct[],
  };
}

/**
 * The catalog as an organization sees it that does not own the private productgroup, the private scene and the warehouse items. The
 * products are the same records, so a change reaches all organizations.
 */
export function sharedCatalog(catalog: Catalog, pageSizes: PageSizes): Catalog {
  const products = new Collection<StoredProduct>("products", pageSizes);
  for (const product of catalog.products.all()) if (!product.group.private) products.add(product);
  const productgroups = catalog.productgroups.filter((group) => !group.private);
  const isShared = <Linked extends { readonly reference: string }>(list: readonly { readonly reference: string }[]) => {
    const references = new Set(list.map(({ reference }) => reference));
    return ({ reference }: Linked) => references.has(reference);
  };
  const scenes = catalog.scenes
    .filter((scene) => !scene.private)
    .map((scene) => ({
      ...scene,
      compatibleProductgroups: scene.compatibleProductgroups.filter(isShared(productgroups)),
    }));
  return {
    ...catalog,
    products,
    productgroups,
    items: new Collection<StoredItem>("items", pageSizes),
    scenes,
    perspectives: catalog.perspectives.map((perspective) => ({
      ...perspective,
      scenes: perspective.scenes?.filter(isShared(scenes)) ?? null,
    })),
    compositions: catalog.compositions.shared(),
  };
}

/** Throws for a product that the catalog cannot have beside its others. */
function checkNew({ products }: Catalog, { reference, name, legacyItemSKU }: AddedProduct): void {
  if (products.get(reference) !== undefined) throw new ControlError(`There is a product ${name} already`);
  if (products.all().some((product) => product.legacyItemSKU === legacyItemSKU)) {
    throw new ControlError(`There is a product with the legacy SKU ${legacyItemSKU} already: change \`sku\``);
  }
}

function itemOf({ items }: Catalog, make: ReferenceMaker, sku: string, stock: number): StoredItem {
  const existing = items.all().find((item) => item.sku === sku);
  if (existing !== undefined) return existing;
  const quantities = { logicalQuantity: stock, physicalQuantity: stock };
  return items.add({ reference: make.named("Item", sku), sku, products: [], ...quantities });
}

/** Adds a product to the demo catalog. Throws a {@link ControlError} when it cannot have the product. */
export function addProduct(
  catalog: Catalog,
  make: ReferenceMaker,
  added: AddedProduct,
  state: ProductState,
): StoredProduct {
  checkNew(catalog, added);
  const { sku, productgroup, ...fixed } = added;
  const group = catalog.productgroups.find(({ reference }) => reference === productgroup);
  if (group === undefined) throw new ControlError(`There is no productgroup ${productgroup}`);
  itemOf(catalog, make, sku, state.availableQuantity ?? 0).products.push(added.reference);
  const product = catalog.products.add({ ...fixed, group, ...state });
  catalog.compositions.add(product);
  catalog.added.push(added);
  return product;
}

/** Shows a product of the demo catalog to an organization that does not own its private part. */
export function shareProduct({ products, compositions }: Catalog, product: StoredProduct): void {
  if (product.group.private) return;
  products.add(product);
  compositions.add(product);
}
