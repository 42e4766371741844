import type { CallContext } from "../../http/call-context.ts";
import { noOptions, type RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send, Start } from "../../http/send.ts";
import { readList } from "../../pagination/list-resource.ts";
import type { PerspectiveReference, ProductReference, SceneReference } from "../../references/references.ts";
import { splitFields } from "../../util/fields.ts";
import {
  getPerspective,
  listPerspectives,
  type Perspective,
  type PerspectiveSummary,
} from "./perspectives.endpoints.ts";

/** Options of {@link PerspectivesResource.list}. */
export interface PerspectiveListOptions extends RequestOptions {
  /** Only perspectives of this scene. Default: all. */
  readonly sceneReference?: SceneReference | undefined;
  /** Only perspectives of this product. Default: all. */
  readonly productReference?: ProductReference | undefined;
}

/** Reads the camera perspectives of scenes and products (specification 2.9, 4.6). */
export class PerspectivesResource {
  readonly #send: Send;
  readonly #start: Start;

  /** @internal */
  constructor(send: Send, { start }: CallContext) {
    this.#send = send;
    this.#start = start;
  }

  /**
   * Lists all perspectives, or those of one scene or product (specification 4.6).
   *
   * @example
   * const perspectives = await partner.perspectives.list({ sceneReference });
   */
  list(options: PerspectiveListOptions = noOptions): ApiCall<readonly PerspectiveSummary[]> {
    const [query, request] = splitFields(options, "sceneReference", "productReference");
    return readList(this.#start, listPerspectives, { query }, request);
  }

  /**
   * Reads one perspective (specification 2.9, 4.6).
   *
   * @throws `NotFoundError` if no perspective has this reference.
   */
  get(perspectiveReference: PerspectiveReference, options?: RequestOptions): ApiCall<Perspective> {
    return this.#send(getPerspective, { path: { perspectiveReference } }, options);
  }
}
