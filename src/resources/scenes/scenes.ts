import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import { noOptions, type RequestOptions } from "../../http/endpoint/request-options.ts";
import type { ProductgroupReference, SceneReference } from "../../references/references.ts";
import { splitFields } from "../../util/split-fields.ts";
import { getScene, listScenes } from "./scenes.endpoints.ts";
import type { Scene, SceneSummary } from "./scenes.schema.ts";

/** Options of a list of scenes. */
export interface SceneListOptions extends RequestOptions {
  /** Only scenes that fit this productgroup. Default: all. */
  readonly productgroupReference?: ProductgroupReference | undefined;
}

/** Settings that products can be rendered in (specification 2.9, 4.6). */
export class ScenesResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists the scenes, or those that fit a productgroup (specification 4.6). */
  list(options: SceneListOptions = noOptions): ApiCall<readonly SceneSummary[]> {
    const [query, request] = splitFields(options, "productgroupReference");
    return this.#send(listScenes, { query }, request);
  }

  /**
   * Reads one scene, with its perspectives (specification 2.9).
   *
   * @throws `NotFoundError` when there is none of this reference.
   */
  get(sceneReference: SceneReference, options?: RequestOptions): ApiCall<Scene> {
    return this.#send(getScene, { path: { sceneReference } }, options);
  }
}
