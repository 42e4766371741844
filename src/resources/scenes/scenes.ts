import type { CallContext } from "../../http/call-context.ts";
import { noOptions, type RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send, Start } from "../../http/send.ts";
import { readList } from "../../pagination/list-resource.ts";
import type { ProductgroupReference, SceneReference } from "../../references/references.ts";
import { splitFields } from "../../util/fields.ts";
import { getScene, listScenes, type Scene, type SceneSummary } from "./scenes.endpoints.ts";

/** Options of {@link ScenesResource.list}. */
export interface SceneListOptions extends RequestOptions {
  /** Only scenes that are compatible with this productgroup. Default: all. */
  readonly productgroupReference?: ProductgroupReference | undefined;
}

/** Reads the scenes in which products can be rendered (specification 2.9, 4.6). */
export class ScenesResource {
  readonly #send: Send;
  readonly #start: Start;

  /** @internal */
  constructor(send: Send, { start }: CallContext) {
    this.#send = send;
    this.#start = start;
  }

  /**
   * Lists all scenes, or those compatible with one productgroup (specification 4.6).
   *
   * @example
   * for (const { reference, name } of await partner.scenes.list()) console.log(reference, name);
   */
  list(options: SceneListOptions = noOptions): ApiCall<readonly SceneSummary[]> {
    const [query, request] = splitFields(options, "productgroupReference");
    return readList(this.#start, listScenes, { query }, request);
  }

  /**
   * Reads one scene with its perspectives (specification 2.9, 4.6).
   *
   * @throws `NotFoundError` if no scene has this reference.
   */
  get(sceneReference: SceneReference, options?: RequestOptions): ApiCall<Scene> {
    return this.#send(getScene, { path: { sceneReference } }, options);
  }
}
