import type { Call } from "../../http/call.ts";
import type { Send } from "../../http/core.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type {
  CompositionReference,
  PerspectiveReference,
  ProductReference,
  SceneReference,
} from "../../references/references.ts";
import { getComposition, lookupComposition } from "./compositions.endpoints.ts";
import type { Composition } from "./compositions.schema.ts";

/** The three things that make a composition. */
export interface CompositionParts {
  readonly sceneReference: SceneReference;
  readonly productReference: ProductReference;
  readonly perspectiveReference: PerspectiveReference;
}

/** Valid combinations of scene, product and perspective (specification 2.9, 4.6). */
export class CompositionsResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Finds the composition of a scene, a product and a perspective.
   *
   * @throws `NotFoundError` when the combination does not exist; `GoneError` when it is no longer available.
   */
  lookup(parts: CompositionParts, options?: RequestOptions): Call<Composition> {
    return this.#send(lookupComposition, { query: parts }, options);
  }

  /** Reads one composition. */
  get(compositionReference: CompositionReference, options?: RequestOptions): Call<Composition> {
    return this.#send(getComposition, { path: { compositionReference } }, options);
  }
}
