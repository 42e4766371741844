import * as z from "zod/mini";
import type { PerspectiveReference, ProductReference, SceneReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** The picture that a perspective gives. */
export interface PerspectiveOutput {
  /** Width in pixels. */
  readonly widthPx: number;
  /** Height in pixels. */
  readonly heightPx: number;
  /** The file format; its values are not shown. */
  readonly format: string;
}

/** A camera on a scene or on a product (specification 2.9): one of `scenes` and `products` is set, the other null. */
export interface Perspective {
  readonly reference: PerspectiveReference;
  readonly name: string;
  /** The picture that a render of it gives. */
  readonly output: PerspectiveOutput;
  /** Set for a perspective of scenes, null for one of products. */
  readonly scenes: readonly { readonly reference: SceneReference }[] | null;
  /** Set for a perspective of products, null for one of scenes. */
  readonly products: readonly { readonly reference: ProductReference }[] | null;
}

export const perspective = () =>
  open<Perspective>({
    reference: reference("Perspective"),
    name: z.string(),
    output: open<PerspectiveOutput>({ widthPx: z.int(), heightPx: z.int(), format: z.string() }),
    scenes: z.nullable(z.array(open<{ readonly reference: SceneReference }>({ reference: reference("Scene") }))),
    products: z.nullable(z.array(open<{ readonly reference: ProductReference }>({ reference: reference("Product") }))),
  });
