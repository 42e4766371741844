import * as z from "zod/mini";
import {
  type Composition,
  getComposition,
  lookupComposition,
} from "../../resources/compositions/compositions.endpoints.ts";
import { getPerspective, listPerspectives, type Perspective } from "../../resources/perspectives/perspectives.ts";
import { getScene, listScenes } from "../../resources/scenes/scenes.ts";
import { reference } from "../../schemas/shape.ts";
import { found, Problem } from "../base/problem.ts";
import type { StoredComposition } from "../catalog/rendering.ts";
import { each, named, only, type Route, referenceOnly, route } from "../http/route.ts";
import type { World } from "../state/world.ts";

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

/** Refuses a filter by a reference that no resource has, where that is assumed. */
function refuseUnknown({ settings }: World, all: readonly Linked[], reference: string | undefined): void {
  if (settings.assumptions.unknownFilter === "empty" || reference === undefined || includes(all, reference)) return;
  throw new Problem("not_found", `${reference} does not exist`);
}

const toComposition = ({ reference, tokenCost }: StoredComposition): Composition => ({ reference, tokenCost });

const promisedComposition = only(named("reference", "tokenCost"));

export const sceneRoutes: readonly Route[] = [
  route(listScenes, {
    models: "scenes, by productgroup; one is private",
    query: { productgroupReference: () => z.optional(reference("Productgroup")) },
    promises: only(named("reference", "name")),
    handle: ({ world, query }) => {
      const group = query?.productgroupReference;
      refuseUnknown(world, world.productgroups, group);
      return world.scenes
        .filter((scene) => group === undefined || includes(scene.compatibleProductgroups, group))
        .map(({ reference, name }) => ({ reference, name }));
    },
  }),
  route(getScene, {
    models: "a scene with its perspectives and productgroups",
    promises: only({
      ...named("reference", "name", "description", "private", "allowsProductPerspectives"),
      compatibleProductgroups: each(referenceOnly),
      perspectives: each(referenceOnly),
    }),
    handle: ({ world, path }) =>
      found(
        world.scenes.find(({ reference }) => reference === path.sceneReference),
        `Scene ${path.sceneReference}`,
      ),
  }),
];

export const perspectiveRoutes: readonly Route[] = [
  route(listPerspectives, {
    models: "perspectives, by scene and product",
    query: {
      sceneReference: () => z.optional(reference("Scene")),
      productReference: () => z.optional(reference("Product")),
    },
    // 4.6 shows no field of an entry
    promises: referenceOnly,
    handle: ({ world, query }): readonly Perspective[] => {
      const { sceneReference: scene, productReference: product } = query ?? {};
      refuseUnknown(world, world.scenes, scene);
      refuseUnknown(world, world.products.all(), product);
      if (scene === undefined && product === undefined) return world.perspectives;
      if (scene === undefined) return world.perspectives.filter(({ products }) => includes(products, product));
      if (product === undefined) return world.perspectives.filter(({ scenes }) => includes(scenes, scene));
      return [...world.compositions.values()]
        .filter((composition) => composition.scene.reference === scene && composition.product.reference === product)
        .map(({ perspective }) => perspective);
    },
  }),
  route(getPerspective, {
    models: "perspectives of scenes and of products",
    promises: only({
      ...named("reference", "name"),
      output: only(named("widthPx", "heightPx", "format")),
      scenes: each(referenceOnly),
      products: each(referenceOnly),
    }),
    handle: ({ world, path }) =>
      found(
        world.perspectives.find(({ reference }) => reference === path.perspectiveReference),
        `Perspective ${path.perspectiveReference}`,
      ),
  }),
];

export const compositionRoutes: readonly Route[] = [
  route(lookupComposition, {
    models: "200, 404 and 410",
    controls: ["updateProduct"],
    query: {
      sceneReference: () => reference("Scene"),
      productReference: () => reference("Product"),
      perspectiveReference: () => reference("Perspective"),
    },
    promises: promisedComposition,
    handle: ({ world, query }) => {
      const composition = [...world.compositions.values()].find(
        ({ scene, product, perspective }) =>
          scene.reference === query?.sceneReference &&
          product.reference === query?.productReference &&
          perspective.reference === query?.perspectiveReference,
      );
      return toComposition(availableComposition(found(composition, "This combination")));
    },
  }),
  route(getComposition, {
    models: "a composition with its cost; 410 for an archived product, which is assumed",
    controls: ["updateProduct"],
    promises: promisedComposition,
    handle: ({ world, path }) => {
      const { compositionReference } = path;
      const composition = found(world.compositions.get(compositionReference), `Composition ${compositionReference}`);
      return toComposition(availableComposition(composition));
    },
  }),
];
