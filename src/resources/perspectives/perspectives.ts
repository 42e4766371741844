import * as z from "zod/mini";
import { endpoint, field, list } from "../../http/endpoint.ts";
import { noOptions, type RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { readList } from "../../pagination/list-resource.ts";
import type { PerspectiveReference, ProductReference, SceneReference } from "../../references/references.ts";
import { array, descriptive, open, reference, text } from "../../schemas/shape.ts";
import { splitFields } from "../../util/fields.ts";

/** The image that a render of a perspective produces (specification 2.9). */
export interface PerspectiveOutput {
  /** Width in pixels. */
  readonly widthPx: number;
  /** Height in pixels. */
  readonly heightPx: number;
  /** The file format. The specification does not show its values. */
  readonly format: string;
}

/** A camera perspective of scenes or of products (specification 2.9). Either `scenes` or `products` is set; the other one is null. */
export interface Perspective {
  readonly reference: PerspectiveReference;
  readonly name: string;
  /** The image that a render produces. */
  readonly output: PerspectiveOutput;
  /** The scenes of a scene perspective; null for a product perspective. */
  readonly scenes: readonly { readonly reference: SceneReference }[] | null;
  /** The products of a product perspective; null for a scene perspective. */
  readonly products: readonly { readonly reference: ProductReference }[] | null;
}

/** A perspective in a list. The specification shows none of its fields (4.6): those of {@link Perspective} may be missing or null. */
export type PerspectiveSummary = Pick<Perspective, "reference"> & {
  readonly [Field in Exclude<keyof Perspective, "reference">]?: Perspective[Field] | null;
};

const output = () => descriptive(open<PerspectiveOutput>({ widthPx: z.int(), heightPx: z.int(), format: z.string() }));
const scenes = () => array(open<{ readonly reference: SceneReference }>({ reference: reference("Scene") }));
const products = () => array(open<{ readonly reference: ProductReference }>({ reference: reference("Product") }));

const perspective = () =>
  open<Perspective>({
    reference: reference("Perspective"),
    name: text(),
    output: output(),
    scenes: descriptive(z.nullable(scenes()), false),
    products: descriptive(z.nullable(products()), false),
  });

const perspectiveSummary = () =>
  open<PerspectiveSummary>({
    reference: reference("Perspective"),
    name: z.nullish(text()),
    output: z.nullish(output()),
    scenes: descriptive(z.nullish(scenes()), false),
    products: descriptive(z.nullish(products()), false),
  });

export const listPerspectives = endpoint({
  call: "perspectives.list",
  method: "GET",
  path: "/perspectives",
  query: {
    sceneReference: () => z.optional(reference("Scene")),
    productReference: () => z.optional(reference("Product")),
  },
  response: list("perspectives", perspectiveSummary),
  repeat: "safe",
});

export const getPerspective = endpoint({
  call: "perspectives.get",
  method: "GET",
  path: "/perspectives/{perspectiveReference}",
  response: field("perspective", perspective),
  repeat: "safe",
});

/** Options of {@link PerspectivesResource.list}. */
export interface PerspectiveListOptions extends RequestOptions {
  /** Only perspectives of this scene. Default: all. */
  readonly sceneReference?: SceneReference | undefined;
  /** Only perspectives of this product. Default: all. */
  readonly productReference?: ProductReference | undefined;
}

/** Reads the camera perspectives of scenes and products (specification 2.9, 4.6). */
export class PerspectivesResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Lists all perspectives, or those of one scene or product (specification 4.6).
   *
   * @example
   * const perspectives = await partner.perspectives.list({ sceneReference });
   */
  list(options: PerspectiveListOptions = noOptions): ApiCall<readonly PerspectiveSummary[]> {
    const [query, request] = splitFields(options, "sceneReference", "productReference");
    return readList(this.#context.start, listPerspectives, { query }, request);
  }

  /**
   * Reads one perspective (specification 2.9, 4.6).
   *
   * @throws `NotFoundError` if no perspective has this reference.
   */
  get(perspectiveReference: PerspectiveReference, options?: RequestOptions): ApiCall<Perspective> {
    return this.#context.send(getPerspective, { path: { perspectiveReference } }, options);
  }
}
