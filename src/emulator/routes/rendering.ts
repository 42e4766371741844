import {
  type Composition,
  getComposition,
  lookupComposition,
} from "../../resources/compositions/compositions.endpoints.ts";
import {
  getPerspective,
  listPerspectives,
  type Perspective,
} from "../../resources/perspectives/perspectives.endpoints.ts";
import { getScene, listScenes } from "../../resources/scenes/scenes.endpoints.ts";
import { found, Problem } from "../base/problem.ts";
import type { StoredComposition } from "../catalog/rendering.ts";
import { type Route, route } from "../http/route.ts";

interface Linked {
  readonly reference: string;
}

const includes = (linked: readonly Linked[] | null, reference: string | undefined): boolean =>
  linked?.some((candidate) => candidate.reference === reference) ?? false;

/** Returns the composition, or throws `gone` when its product is archived (specification 4.6). */
export function availableComposition(composition: StoredComposition): StoredComposition {
  if (composition.product.status !== "archived") return composition;
  throw new Problem("gone", `The composition is no longer available: ${composition.product.name} is archived`);
}

const toComposition = ({ reference, tokenCost }: StoredComposition): Composition => ({ reference, tokenCost });

export const sceneRoutes: readonly Route[] = [
  route(listScenes, ({ world, query }) => {
    const group = query?.productgroupReference;
    return world.scenes
      .filter((scene) => group === undefined || includes(scene.compatibleProductgroups, group))
      .map(({ reference, name }) => ({ reference, name }));
  }),
  route(getScene, ({ world, path }) =>
    found(
      world.scenes.find(({ reference }) => reference === path.sceneReference),
      `Scene ${path.sceneReference}`,
    ),
  ),
];

export const perspectiveRoutes: readonly Route[] = [
  route(listPerspectives, ({ world, query }): readonly Perspective[] => {
    const { sceneReference: scene, productReference: product } = query ?? {};
    if (scene === undefined && product === undefined) return world.perspectives;
    if (scene === undefined) return world.perspectives.filter(({ products }) => includes(products, product));
    if (product === undefined) return world.perspectives.filter(({ scenes }) => includes(scenes, scene));
    return [...world.compositions.values()]
      .filter((composition) => composition.scene.reference === scene && composition.product.reference === product)
      .map(({ perspective }) => perspective);
  }),
  route(getPerspective, ({ world, path }) =>
    found(
      world.perspectives.find(({ reference }) => reference === path.perspectiveReference),
      `Perspective ${path.perspectiveReference}`,
    ),
  ),
];

export const compositionRoutes: readonly Route[] = [
  route(lookupComposition, ({ world, query }) => {
    const composition = [...world.compositions.values()].find(
      ({ scene, product, perspective }) =>
        scene.reference === query?.sceneReference &&
        product.reference === query?.productReference &&
        perspective.reference === query?.perspectiveReference,
    );
    return toComposition(availableComposition(found(composition, "This combination")));
  }),
  route(getComposition, ({ world, path }) => {
    const { compositionReference } = path;
    const composition = found(world.compositions.get(compositionReference), `Composition ${compositionReference}`);
    return toComposition(availableComposition(composition));
  }),
];
