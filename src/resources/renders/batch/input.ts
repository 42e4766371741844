import * as z from "zod/mini";
import type { ImageSource } from "../../../binary/source.ts";
import { RequestValidationError } from "../../../errors/validation.ts";
import type {
  CompositionReference,
  ImageReference,
  PerspectiveReference,
  ProductReference,
  SceneReference,
} from "../../../references/references.ts";
import { reference } from "../../../references/schema.ts";
import { check } from "../../../schemas/check.ts";

/** The composition of a mockup by its reference. */
interface KnownComposition {
  readonly compositionReference: CompositionReference;
  readonly sceneReference?: undefined;
  readonly productReference?: undefined;
  readonly perspectiveReference?: undefined;
}

/** The composition of a mockup by its parts. */
interface CombinedComposition {
  readonly compositionReference?: undefined;
  readonly sceneReference: SceneReference;
  readonly productReference: ProductReference;
  readonly perspectiveReference: PerspectiveReference;
}

/** An image that was uploaded. */
interface ReferencedImage {
  readonly imageReference: ImageReference;
  readonly image?: undefined;
}

/** An image that the batch uploads. */
interface SourceImage {
  readonly imageReference?: undefined;
  readonly image: ImageSource;
}

/**
 * The input of a mockup (specification 2.9, 4.6): a composition, by its reference or by its scene, product and perspective, and an image,
 * by its reference or as a source to upload.
 *
 * @example
 * const byReferences = { compositionReference, imageReference };
 * const byParts = { sceneReference, productReference, perspectiveReference, image: "design.png" };
 * for await (const outcome of partner.renders.batch([byReferences, byParts])) console.log(outcome.ok);
 */
export type MockupInput = (KnownComposition | CombinedComposition) & (ReferencedImage | SourceImage);

const parts = ["sceneReference", "productReference", "perspectiveReference"] as const;

const schema = () =>
  z
    .strictObject({
      compositionReference: z.optional(reference("Composition")),
      sceneReference: z.optional(reference("Scene")),
      productReference: z.optional(reference("Product")),
      perspectiveReference: z.optional(reference("Perspective")),
      imageReference: z.optional(reference("Image")),
      image: z.optional(z.unknown()),
    })
    .check(
      z.superRefine((input, context) => {
        const issue = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
        const given = parts.filter((part) => input[part] !== undefined);
        const missing = parts.find((part) => input[part] === undefined);
        if (input.compositionReference !== undefined) {
          for (const part of given) issue(part, "is not allowed together with `compositionReference`");
        } else if (given.length === 0)
          issue("compositionReference", "is required, or a scene, product and perspective");
        else if (missing !== undefined) issue(missing, "is required without `compositionReference`");
        if (input.imageReference === undefined && input.image === undefined)
          issue("imageReference", "is required, or `image` with a source to upload");
        if (input.imageReference !== undefined && input.image !== undefined)
          issue("image", "is not allowed together with `imageReference`");
      }),
    );

/** Checks the input of a row. Throws before anything is sent for the row. */
export function assertInput(input: unknown): asserts input is MockupInput {
  const checked = check(schema, input, ["render"]);
  if (!checked.ok) throw new RequestValidationError({ issues: checked.issues, endpoint: "POST /renders" });
}
