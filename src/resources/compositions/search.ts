import * as z from "zod/mini";
import { isConfirmedMissing } from "../../errors/api.ts";
import { type CallSite, withCallSite } from "../../errors/call-site.ts";
import { RequestValidationError } from "../../errors/validation.ts";
import { newCallId } from "../../http/observer.ts";
import { checkedOptions, type RequestOptions, withRequestOptions } from "../../http/request-options.ts";
import type { CallContext } from "../../http/send.ts";
import { readList } from "../../pagination/list-resource.ts";
import { paginate } from "../../pagination/paginator.ts";
import type { ProductgroupReference, ProductReference, SceneReference } from "../../references/references.ts";
import { check, matches } from "../../schemas/check.ts";
import { reference } from "../../schemas/shape.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { abortController, eitherSignal } from "../../util/abort-signals.ts";
import { splitFields } from "../../util/fields.ts";
import { isRecord } from "../../util/foreign.ts";
import { listProducts } from "../catalog/catalog.endpoints.ts";
import { type ManyOptions, many, manyRows, type StartedRow } from "../many.ts";
import { listPerspectives } from "../perspectives/perspectives.ts";
import { getScene, listScenes } from "../scenes/scenes.ts";
import { type Composition, type CompositionParts, composition, lookupComposition } from "./compositions.endpoints.ts";

/** The product, the scene, or both, whose compositions are searched. */
export interface CompositionSearch {
  /** Only compositions of this product. Default: all products, with a request for each of them. */
  readonly productReference?: ProductReference | undefined;
  /** Only compositions of this scene. Default: all scenes. */
  readonly sceneReference?: SceneReference | undefined;
  /** The productgroup of the product, if you know it. Only scenes that are compatible with it are searched. */
  readonly productgroupReference?: ProductgroupReference | undefined;
}

/** A combination of scene, product and perspective that can be rendered. */
export interface FoundComposition extends CompositionParts {
  readonly composition: Composition;
}

/** Milliseconds after which a composition is looked up again: it may have disappeared, or have another `tokenCost`. */
export const compositionLifetime = 24 * 3_600_000;

/** The key of a combination in the storage. */
export const combinationKey = ({ sceneReference, productReference, perspectiveReference }: CompositionParts): string =>
  `composition:${sceneReference}:${productReference}:${perspectiveReference}`;

const searched = () =>
  z
    .strictObject({
      productReference: z.optional(reference("Product")),
      sceneReference: z.optional(reference("Scene")),
      productgroupReference: z.optional(reference("Productgroup")),
    })
    .check(
      z.refine((by) => (by.productReference ?? by.sceneReference) !== undefined, {
        error: "needs a `productReference`, a `sceneReference`, or both",
      }),
    );

const searchOptions = withRequestOptions(() => ({ concurrency: manyRows().concurrency }));

/** Looks up the combinations of a product, a scene or both, and yields those that exist, in the order of the service's lists. */
export async function* searchCompositions(
  { send, start, openStorage, priority: ofClient = "low" }: CallContext,
  by: CompositionSearch,
  given: ManyOptions,
  callSite: CallSite,
): AsyncGenerator<FoundComposition, void, undefined> {
  const options = checkedOptions(searchOptions, given);
  const checked = check(searched, by, ["search"]);
  if (!checked.ok) throw new RequestValidationError({ issues: checked.issues });
  const { productReference, sceneReference, productgroupReference } = checked.value as CompositionSearch;
  const [, rest] = splitFields(options, "concurrency");
  const { callId = newCallId(), priority = ofClient } = rest;
  /** Aborts the reads in progress when the loop ends. */
  const left = abortController();
  const each: RequestOptions = { ...rest, callId, priority, signal: eitherSignal(rest.signal, left.signal) };
  const storage = await openStorage();

  const perspectivesOf = (product: ProductReference) =>
    readList(start, listPerspectives, { query: { productReference: product } }, each);
  let latest:
    | { readonly product: ProductReference; readonly perspectives: ReturnType<typeof perspectivesOf> }
    | undefined;

  async function* combinations(): AsyncGenerator<CompositionParts> {
    const scenes =
      sceneReference === undefined
        ? await readList(start, listScenes, { query: { productgroupReference } }, each)
        : [{ reference: sceneReference }];
    const products =
      productReference === undefined ? paginate(send, listProducts, {}, each) : [{ reference: productReference }];
    for (const { reference: scene } of scenes) {
      const { perspectives, allowsProductPerspectives } = await send(
        getScene,
        { path: { sceneReference: scene } },
        each,
        { needs: ["perspectives", "reference", "allowsProductPerspectives"], internal: true },
      );
      for await (const { reference: product } of products) {
        if (allowsProductPerspectives && latest?.product !== product)
          latest = { product, perspectives: perspectivesOf(product) };
        const more = allowsProductPerspectives ? await latest?.perspectives : undefined;
        for (const perspective of new Set([...perspectives, ...(more ?? [])].map((one) => one.reference)))
          yield { sceneReference: scene, productReference: product, perspectiveReference: perspective };
      }
    }
  }

  /** Resolves to undefined if the combination does not exist. */
  async function lookUp(parts: CompositionParts, request: RequestOptions): Promise<Composition | undefined> {
    const key = combinationKey(parts);
    const known = fromJson(await storage.get(key));
    if (matches(composition, known)) return known;
    if (isRecord(known) && known.exists === false) return undefined;
    try {
      const found = await send(lookupComposition, { query: parts }, request, { internal: true });
      await storage.set(key, toJson(found), { ttl: compositionLifetime });
      return found;
    } catch (error) {
      if (!isConfirmedMissing(error)) throw error;
      await storage.set(key, toJson({ exists: false }), { ttl: compositionLifetime });
      return undefined;
    }
  }

  /** Resolves when all earlier look-ups have ended. */
  let earlier: Promise<unknown> = Promise.resolve();
  /** Looks a combination up at once, and resolves after all earlier look-ups, so that the results keep their order. */
  function lookUpInOrder(parts: CompositionParts, request: RequestOptions): Promise<Composition | undefined> {
    const found = lookUp(parts, request);
    // It may reject before it is awaited.
    found.catch(() => undefined);
    const inTurn = earlier.then(() => found);
    earlier = inTurn.catch(() => undefined);
    return inTurn;
  }

  const work = (parts: CompositionParts, request: RequestOptions, row: StartedRow) =>
    lookUpInOrder(parts, { ...request, signal: row.left });
  try {
    for await (const outcome of many(
      combinations(),
      { ...options, callId },
      { concurrency: 16, priority, work, callSite },
    )) {
      if (!outcome.ok) throw outcome.error;
      if (outcome.value !== undefined) yield { ...(outcome.input as CompositionParts), composition: outcome.value };
    }
  } catch (error) {
    throw withCallSite(error, callSite);
  } finally {
    left.abort();
  }
}
