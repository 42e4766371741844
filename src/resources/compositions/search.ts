import * as z from "zod/mini";
import { isConfirmedMissing } from "../../errors/api.ts";
import type { CallSite } from "../../errors/call-site.ts";
import { RequestValidationError } from "../../errors/validation.ts";
import { newCallId } from "../../http/observer.ts";
import { checkedOptions, type RequestOptions, withRequestOptions } from "../../http/request-options.ts";
import type { CallContext, Send } from "../../http/send.ts";
import { readList } from "../../pagination/list-resource.ts";
import { paginate } from "../../pagination/paginator.ts";
import type { ProductgroupReference, ProductReference, SceneReference } from "../../references/references.ts";
import { check } from "../../schemas/check.ts";
import { reference } from "../../schemas/shape.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { splitFields } from "../../util/fields.ts";
import { isRecord } from "../../util/foreign.ts";
import { listProducts } from "../catalog/catalog.endpoints.ts";
import { type ManyOptions, many, manyRows } from "../many.ts";
import { listPerspectives } from "../perspectives/perspectives.ts";
import { getScene, listScenes } from "../scenes/scenes.ts";
import { type Composition, type CompositionParts, composition, lookupComposition } from "./compositions.endpoints.ts";

/** What to search compositions for: a product, a scene, or both. */
export interface CompositionSearch {
  /** Only compositions of this product. Default: all products are tried, which takes a request for each of them. */
  readonly productReference?: ProductReference | undefined;
  /** Only compositions of this scene. Default: all scenes are tried. */
  readonly sceneReference?: SceneReference | undefined;
  /** The productgroup of the product, if you know it: only scenes that are compatible with it are tried. */
  readonly productgroupReference?: ProductgroupReference | undefined;
}

/** A combination of scene, product and perspective that can be rendered. */
export interface FoundComposition extends CompositionParts {
  readonly composition: Composition;
}

/** Milliseconds after which a composition is looked up again: its `tokenCost`, and whether it exists, may change. */
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

/**
 * Tries the combinations of a product, of a scene or of both, and yields those that exist, always in the order of the service's lists: of
 * scenes, then products, then perspectives.
 */
export async function* searchCompositions(
  send: Send,
  { start, openStorage, priority: ofClient = "low" }: CallContext,
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
  const each: RequestOptions = { ...rest, callId, priority };
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

  /** Resolves to undefined for a combination that does not exist, or no longer. */
  async function look(parts: CompositionParts, request: RequestOptions): Promise<Composition | undefined> {
    const key = combinationKey(parts);
    const known = fromJson(await storage.get(key));
    // The value itself: the copy of the check lacks the fields that this version does not know.
    if (check(composition, known, []).ok) return known as Composition;
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

  /** Ends when all earlier look-ups have ended. It never rejects. */
  let earlier: Promise<unknown> = Promise.resolve();
  /** Gives what a look-up finds after what the earlier ones find, so that the order of responses does not matter. */
  function lookInTurn(parts: CompositionParts, request: RequestOptions): Promise<Composition | undefined> {
    const found = look(parts, request);
    // It may fail before its turn.
    found.catch(() => undefined);
    const inTurn = earlier.then(() => found);
    earlier = inTurn.then(
      () => undefined,
      () => undefined,
    );
    return inTurn;
  }

  const how = { concurrency: 16, priority, work: lookInTurn, callSite };
  for await (const outcome of many(combinations(), { ...options, callId }, how)) {
    if (!outcome.ok) throw outcome.error;
    if (outcome.value !== undefined) yield { ...(outcome.input as CompositionParts), composition: outcome.value };
  }
}
