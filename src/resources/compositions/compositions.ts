import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send } from "../../http/send.ts";
import type {
  CompositionReference,
  PerspectiveReference,
  ProductReference,
  SceneReference,
} from "../../references/references.ts";
import { type Composition, getComposition, lookupComposition } from "./compositions.endpoints.ts";

/** The three references that identify a composition (specification 2.9). All are required. */
export interface CompositionParts {
  readonly sceneReference: SceneReference;
  readonly productReference: ProductReference;
  readonly perspectiveReference: PerspectiveReference;
}

/** Looks up valid combinations of scene, product and perspective (specification 2.9, 4.6). */
export class CompositionsResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Looks up the composition of a scene, a product and a perspective (specification 4.6).
   *
   * @throws `NotFoundError` if the combination does not exist.
   * @throws `GoneError` if the combination is no longer available.
   * @example
   * const composition = await partner.compositions.lookup({ sceneReference, productReference, perspectiveReference });
   * console.log(`A render costs ${composition.tokenCost} rendertokens.`);
   */
  lookup(parts: CompositionParts, options?: RequestOptions): ApiCall<Composition> {
    return this.#send(lookupComposition, { query: parts }, options);
  }

  /**
   * Reads one composition with its cost in rendertokens (specification 4.6).
   *
   * @throws `NotFoundError` if no composition has this reference.
   */
  get(compositionReference: CompositionReference, options?: RequestOptions): ApiCall<Composition> {
    return this.#send(getComposition, { path: { compositionReference } }, options);
  }
}
