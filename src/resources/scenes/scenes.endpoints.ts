import * as z from "zod/mini";
import { endpoint, field, list } from "../../http/endpoint.ts";
import type { PerspectiveReference, ProductgroupReference, SceneReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { array, open } from "../../schemas/shape.ts";

/** A scene in a list (specification 2.9). */
export interface SceneSummary {
  readonly reference: SceneReference;
  readonly name: string;
}

/** A scene in which products can be rendered (specification 2.9). */
export interface Scene extends SceneSummary {
  readonly description: string;
  /** A flag whose meaning the specification does not show. */
  readonly private: boolean;
  /** Whether product perspectives can be used in addition to the scene's own perspectives. */
  readonly allowsProductPerspectives: boolean;
  readonly compatibleProductgroups: readonly { readonly reference: ProductgroupReference }[];
  readonly perspectives: readonly { readonly reference: PerspectiveReference }[];
}

const summaryFields = () => ({ reference: reference("Scene"), name: z.string() });

const sceneSummary = () => open<SceneSummary>(summaryFields());

const scene = () =>
  open<Scene>({
    ...summaryFields(),
    description: z.string(),
    private: z.boolean(),
    allowsProductPerspectives: z.boolean(),
    compatibleProductgroups: array(
      open<{ readonly reference: ProductgroupReference }>({ reference: reference("Productgroup") }),
    ),
    perspectives: array(open<{ readonly reference: PerspectiveReference }>({ reference: reference("Perspective") })),
  });

export const listScenes = endpoint({
  call: "scenes.list",
  method: "GET",
  path: "/scenes",
  query: { productgroupReference: () => z.optional(reference("Productgroup")) },
  response: list("scenes", sceneSummary),
  repeat: "safe",
});

export const getScene = endpoint({
  call: "scenes.get",
  method: "GET",
  path: "/scenes/{sceneReference}",
  response: field("scene", scene),
  repeat: "safe",
});
