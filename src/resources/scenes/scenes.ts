import * as z from "zod/mini";
import { endpoint, field, list } from "../../http/endpoint.ts";
import { noOptions, type RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { readList } from "../../pagination/list-resource.ts";
import type { PerspectiveReference, ProductgroupReference, SceneReference } from "../../references/references.ts";
import { array, descriptive, flag, open, reference, text } from "../../schemas/shape.ts";
import { splitFields } from "../../util/fields.ts";

/** A scene in a list (specification 2.9). */
export interface SceneSummary {
  readonly reference: SceneReference;
  readonly name: string;
}

/** A scene in which products can be rendered (specification 2.9). */
export interface Scene extends SceneSummary {
  readonly description: string;
  /** A flag whose meaning the specification does not show. */
  readonly private: boolean;
  /** Whether product perspectives can be used in addition to the scene's own perspectives. */
  readonly allowsProductPerspectives: boolean;
  readonly compatibleProductgroups: readonly { readonly reference: ProductgroupReference }[];
  readonly perspectives: readonly { readonly reference: PerspectiveReference }[];
}

const summaryFields = () => ({ reference: reference("Scene"), name: text() });

const sceneSummary = () => open<SceneSummary>(summaryFields());

const scene = () =>
  open<Scene>({
    ...summaryFields(),
    description: text(),
    private: flag(),
    allowsProductPerspectives: flag(),
    compatibleProductgroups: descriptive(
      array(open<{ readonly reference: ProductgroupReference }>({ reference: reference("Productgroup") })),
      false,
    ),
    perspectives: descriptive(
      array(open<{ readonly reference: PerspectiveReference }>({ reference: reference("Perspective") })),
      false,
    ),
  });

export const listScenes = endpoint({
  call: "scenes.list",
  method: "GET",
  path: "/scenes",
  query: { productgroupReference: () => z.optional(reference("Productgroup")) },
  response: list("scenes", sceneSummary),
  repeat: "safe",
});

export const getScene = endpoint({
  call: "scenes.get",
  method: "GET",
  path: "/scenes/{sceneReference}",
  response: field("scene", scene),
  repeat: "safe",
});

/** Options of {@link ScenesResource.list}. */
export interface SceneListOptions extends RequestOptions {
  /** Only scenes that are compatible with this productgroup. Default: all. */
  readonly productgroupReference?: ProductgroupReference | undefined;
}

/** Reads the scenes in which products can be rendered (specification 2.9, 4.6). */
export class ScenesResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Lists all scenes, or those compatible with one productgroup (specification 4.6).
   *
   * @example
   * for (const { reference, name } of await partner.scenes.list()) console.log(reference, name);
   */
  list(options: SceneListOptions = noOptions): ApiCall<readonly SceneSummary[]> {
    const [query, request] = splitFields(options, "productgroupReference");
    return readList(this.#context.start, listScenes, { query }, request);
  }

  /**
   * Reads one scene with its perspectives (specification 2.9, 4.6).
   *
   * @throws `NotFoundError` if no scene has this reference.
   */
  get(sceneReference: SceneReference, options?: RequestOptions): ApiCall<Scene> {
    return this.#context.send(getScene, { path: { sceneReference } }, options);
  }
}
