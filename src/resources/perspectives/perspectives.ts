import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import { noOptions, type RequestOptions } from "../../http/endpoint/request-options.ts";
import type { PerspectiveReference, ProductReference, SceneReference } from "../../references/references.ts";
import { splitFields } from "../../util/split-fields.ts";
import { getPerspective, listPerspectives } from "./perspectives.endpoints.ts";
import type { Perspective } from "./perspectives.schema.ts";

/** Options of a list of perspectives. */
export interface PerspectiveListOptions extends RequestOptions {
  /** Only perspectives of this scene. Default: all. */
  readonly sceneReference?: SceneReference | undefined;
  /** Only perspectives of this product. Default: all. */
  readonly productReference?: ProductReference | undefined;
}

/** Cameras on scenes and on products (specification 2.9, 4.6). */
export class PerspectivesResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists the perspectives, or those of a scene or a product (specification 4.6). */
  list(options: PerspectiveListOptions = noOptions): ApiCall<readonly Perspective[]> {
    const [query, request] = splitFields(options, "sceneReference", "productReference");
    return this.#send(listPerspectives, { query }, request);
  }

  /**
   * Reads one perspective (specification 2.9).
   *
   * @throws `NotFoundError` when there is none of this reference.
   */
  get(perspectiveReference: PerspectiveReference, options?: RequestOptions): ApiCall<Perspective> {
    return this.#send(getPerspective, { path: { perspectiveReference } }, options);
  }
}
