import * as z from "zod/mini";
import type { PerspectiveReference, ProductgroupReference, SceneReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** A scene as a list gives it (specification 2.9). */
export interface SceneSummary {
  readonly reference: SceneReference;
  readonly name: string;
}

/** A setting that products can be rendered in (specification 2.9). */
export interface Scene extends SceneSummary {
  readonly description: string;
  /** What it means for the scene is not shown. */
  readonly private: boolean;
  /** Whether product-specific perspectives may be used in addition to the scene's own. */
  readonly allowsProductPerspectives: boolean;
  readonly compatibleProductgroups: readonly { readonly reference: ProductgroupReference }[];
  readonly perspectives: readonly { readonly reference: PerspectiveReference }[];
}

const summaryFields = () => ({ reference: reference("Scene"), name: z.string() });

export const sceneSummary = () => open<SceneSummary>(summaryFields());

export const scene = () =>
  open<Scene>({
    ...summaryFields(),
    description: z.string(),
    private: z.boolean(),
    allowsProductPerspectives: z.boolean(),
    compatibleProductgroups: z.array(
      open<{ readonly reference: ProductgroupReference }>({ reference: reference("Productgroup") }),
    ),
    perspectives: z.array(open<{ readonly reference: PerspectiveReference }>({ reference: reference("Perspective") })),
  });
