import type { CompositionReference } from "../../references/references.ts";
import type { Perspective } from "../../resources/perspectives/perspectives.ts";
import type { Scene } from "../../resources/scenes/scenes.ts";
import type { ReferenceMaker } from "../base/reference-maker.ts";
import type { Collection } from "../base/table.ts";
import type { ProductName, StoredProduct, StoredProductgroup } from "./products.ts";

export interface StoredComposition {
  readonly reference: CompositionReference;
  readonly tokenCost: number;
  readonly scene: Scene;
  readonly product: StoredProduct;
  readonly perspective: Perspective;
}

type MakeOf = (product: StoredProduct) => readonly StoredComposition[];

/** The compositions of a catalog by reference. */
export interface Compositions {
  get(reference: string): StoredComposition | undefined;
  values(): Iterable<StoredComposition>;
  /** Adds the compositions that show a product. */
  add(product: StoredProduct): void;
  /** Those that have nothing private. */
  shared(): Compositions;
}

/** They are made at the first use, because their references are most of those of a catalog. */
function createCompositions(shown: readonly StoredProduct[], makeOf: MakeOf): Compositions {
  const products = [...shown];
  let made: Map<string, StoredComposition> | undefined;
  const all = () => {
    made ??= new Map(products.flatMap(makeOf).map((composition) => [composition.reference, composition]));
    return made;
  };
  return {
    get: (reference) => all().get(reference),
    values: () => all().values(),
    add(product) {
      products.push(product);
      made = undefined;
    },
    shared: () =>
      createCompositions(
        products.filter(({ group }) => !group.private),
        (product) => makeOf(product).filter(({ scene }) => !scene.private),
      ),
  };
}

export const sceneTable = {
  studio: { name: "Studio", description: "A plain background and soft light", private: false, own: true, tokenCost: 1 },
  desk: { name: "Desk", description: "On a wooden desk beside a cup", private: false, own: false, tokenCost: 2 },
  campaign: { name: "Spring campaign", description: "Made for Demo Prints", private: true, own: true, tokenCost: 5 },
} as const;

type SceneName = keyof typeof sceneTable;

/** The perspectives of the demo scenes. Each renders a PNG. */
export const perspectiveTable = {
  front: { name: "Front", widthPx: 600, heightPx: 800, scenes: ["studio", "desk"] },
  angled: { name: "Angled", widthPx: 900, heightPx: 1200, scenes: ["studio", "campaign"] },
} as const satisfies Record<string, { scenes: readonly SceneName[]; [field: string]: unknown }>;

/** Some compositions: the names of scene, product and perspective. */
export const compositionTable = {
  studio: ["studio", "slimCase", "front"],
  desk: ["desk", "slimCase", "front"],
  campaign: ["campaign", "slimCase", "angled"],
  archived: ["studio", "slimCase8", "front"],
} as const satisfies Record<string, readonly [SceneName, ProductName, keyof typeof perspectiveTable]>;

/** The name that the reference of a composition derives from. */
export const compositionName = (...parts: readonly [scene: string, product: string, perspective: string]): string =>
  parts.join("/");

/** The legacy SKUs of the products that have their own perspective. */
const closeUps = new Set(["TOUGH-IP16", "SLIM-IP16"]);

/** Makes the perspectives that belong to scenes. */
const createScenePerspectives = (make: ReferenceMaker): readonly Perspective[] =>
  Object.entries(perspectiveTable).map(([key, { name, widthPx, heightPx, scenes }]) => ({
    reference: make.named("Perspective", key),
    name,
    output: { widthPx, heightPx, format: "png" },
    scenes: scenes.map((scene) => ({ reference: make.named("Scene", scene) })),
    products: null,
  }));

/** Makes the perspectives that belong to one product each. */
const createCloseUps = (make: ReferenceMaker, products: readonly StoredProduct[]): readonly Perspective[] =>
  products
    .filter((product) => closeUps.has(product.legacyItemSKU))
    .map((product) => ({
      reference: make.named("Perspective", `close-up/${product.reference}`),
      name: `Close-up of ${product.name}`,
      output: { widthPx: 800, heightPx: 800, format: "png" },
      scenes: null,
      products: [{ reference: product.reference }],
    }));

const belongsTo = (perspective: Perspective, { reference }: Pick<Scene, "reference">): boolean =>
  perspective.scenes?.some((scene) => scene.reference === reference) ?? false;

/** Whether a scene shows a product from a perspective: its own, or the product's own if the scene allows that. */
const shows = (scene: Scene, product: StoredProduct, perspective: Perspective): boolean =>
  belongsTo(perspective, scene) ||
  (scene.allowsProductPerspectives &&
    (perspective.products?.some(({ reference }) => reference === product.reference) ?? false));

/** Makes the demo scenes. Each shows products of the given groups. */
const createScenes = (
  make: ReferenceMaker,
  groups: readonly StoredProductgroup[],
  perspectives: readonly Perspective[],
): readonly Scene[] =>
  Object.entries(sceneTable).map(([key, row]) => {
    const reference = make.named("Scene", key);
    const own = perspectives.filter((perspective) => belongsTo(perspective, { reference }));
    return {
      reference,
      name: row.name,
      description: row.description,
      private: row.private,
      allowsProductPerspectives: row.own,
      compatibleProductgroups: groups.map((group) => ({ reference: group.reference })),
      perspectives: own.map((perspective) => ({ reference: perspective.reference })),
    };
  });

/** Makes the demo scenes, the perspectives, and every composition that can be rendered. An announced product has none. */
export function createRendering(
  make: ReferenceMaker,
  productgroups: readonly StoredProductgroup[],
  products: Collection<StoredProduct>,
) {
  const perspectives = [...createScenePerspectives(make), ...createCloseUps(make, products.all())];
  const compatible = productgroups.filter((group) => group.name !== "Screen protectors");
  const scenes = createScenes(make, compatible, perspectives);
  const costs = Object.values(sceneTable).map(({ tokenCost }) => tokenCost);

  const compositionOf = (scene: Scene, tokenCost: number, product: StoredProduct, perspective: Perspective) => {
    const name = compositionName(scene.reference, product.reference, perspective.reference);
    return { reference: make.named("Composition", name), tokenCost, scene, product, perspective };
  };
  /** The compositions that show a product: none of one without print. */
  const compositionsOf = (product: StoredProduct): readonly StoredComposition[] =>
    scenes.flatMap((scene, position) =>
      product.printed && compatible.includes(product.group)
        ? perspectives
            .filter((perspective) => shows(scene, product, perspective))
            .map((perspective) => compositionOf(scene, costs[position] ?? 0, product, perspective))
        : [],
    );
  const renderable = products.all().filter(({ status }) => status !== "announced");
  return { scenes, perspectives, compositions: createCompositions(renderable, compositionsOf) };
}
