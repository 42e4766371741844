import { captureCallSite } from "../../errors/call-site.ts";
import { noOptions, type RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import type { CompositionReference } from "../../references/references.ts";
import { iterateOnce, type ManyOptions } from "../many.ts";
import {
  type Composition,
  type CompositionParts,
  getComposition,
  lookupComposition,
} from "./compositions.endpoints.ts";
import { type CompositionSearch, type FoundComposition, searchCompositions } from "./search.ts";

/** Looks up valid combinations of scene, product and perspective (specification 2.9, 4.6). */
export class CompositionsResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
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
    return this.#context.send(lookupComposition, { query: parts }, options);
  }

  /**
   * Finds the compositions of a product, of a scene, or of both. The specification shows no list of them, so it looks up each combination:
   * one request of low priority, at most 16 at a time, and no rendertokens. It yields them in the order of the service's lists: scenes, then
   * products, then perspectives.
   *
   * The client's `storage` remembers each result for 24 hours, so a repeated call continues where an error stopped it. Iterate the result
   * once.
   *
   * @throws `RequestValidationError` if there is neither a product nor a scene.
   * @example
   * for await (const { perspectiveReference, composition } of partner.compositions.search({ productReference, sceneReference }))
   *   console.log(perspectiveReference, composition.tokenCost);
   */
  search(by: CompositionSearch, options: ManyOptions = noOptions): AsyncIterable<FoundComposition> {
    const callSite = captureCallSite(search);
    return iterateOnce("compositions.search", searchCompositions(this.#context, by, options, callSite));
  }

  /**
   * Reads one composition with its cost in rendertokens (specification 4.6).
   *
   * @throws `NotFoundError` if no composition has this reference.
   */
  get(compositionReference: CompositionReference, options?: RequestOptions): ApiCall<Composition> {
    return this.#context.send(getComposition, { path: { compositionReference } }, options);
  }
}

/** The frames below this method in a stack are the caller's. */
const { search } = CompositionsResource.prototype;
