import * as z from "zod/mini";
import type { Download, NotModified } from "../../binary/download.ts";
import { changesOf } from "../../changes/changes.ts";
import type { ChangesOptions, ListChanges } from "../../changes/list-changes.ts";
import { since } from "../../changes/snapshot.ts";
import { type RequestOptions, withRequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { type ListOptions, type Paginator, paginate } from "../../pagination/paginator.ts";
import type { ProductReference } from "../../references/references.ts";
import { fieldsOf } from "../../util/fields.ts";
import { type GetMany, getMany } from "../many.ts";
import {
  getLayerImage,
  getProduct,
  getProductMedia,
  listProducts,
  lookupProduct,
  type Product,
  type ProductDetail,
} from "./catalog.endpoints.ts";
import { type ConditionalOptions, conditionally, type UnconditionalOptions } from "./conditional.ts";

/** Options of {@link ProductsResource.changes}: those of each request, the snapshot to compare with, and `details`. */
export interface ProductChangesOptions extends ChangesOptions<Product> {
  /** Whether to read the details of each added or changed product, with one request each. Default false. */
  readonly details?: boolean | undefined;
}

const changesOptions = withRequestOptions(() => ({ since: since("Product"), details: z.optional(z.boolean()) }));

/** Reads products and downloads their images (specification 2.6, 4.3). */
export class ProductsResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Iterates all products, page by page (specification 4.3, 4.11).
   *
   * @example
   * for await (const { reference, status } of partner.catalog.products.list()) {
   *   if (status === "launched") console.log(reference);
   * }
   */
  list(options?: ListOptions): Paginator<Product> {
    return paginate(this.#context.send, listProducts, {}, options);
  }

  /**
   * Reads one product with all details (specification 2.6, 4.3).
   *
   * @throws `GoneError` if the product is archived.
   * @throws `NotFoundError` if no product has this reference.
   * @example
   * const { weightGrams } = await partner.catalog.products.get(productReference);
   */
  get(productReference: ProductReference, options?: RequestOptions): ApiCall<ProductDetail> {
    return this.#context.send(getProduct, { path: { productReference } }, options);
  }

  /**
   * Reads many products by their references. Each is one request with low priority, at most 16 at a time. It yields each outcome with its
   * row when it is ready. One failure does not stop the other rows. Iterate the outcomes once.
   *
   * `map` returns the reference for your row. Without it, each row is a reference. `concurrency` is the number of requests at a time.
   *
   * @throws `RequestValidationError` if an option or `rows` is invalid.
   * @example
   * for await (const outcome of partner.catalog.products.getMany(partner.catalog.products.list(), { map: ({ reference }) => reference })) {
   *   if (outcome.ok) console.log(outcome.value.reference);
   *   else console.error(outcome.input, outcome.error);
   * }
   */
  get getMany(): GetMany<ProductReference, ProductDetail> {
    return getMany("catalog.products.getMany", this.#context, this.get.bind(this));
  }

  /**
   * Reads all products and compares them with a snapshot of an earlier call (specification 2.6, 4.3). With `details`, it also reads the
   * details of each added or changed product.
   *
   * @throws The same errors as the overload without `details`.
   * @example
   * const { added, changed, snapshot } = await partner.catalog.products.changes({ since, details: true });
   * for (const { current } of [...added, ...changed]) console.log(current.weightGrams);
   */
  changes(options: ProductChangesOptions & { readonly details: true }): ApiCall<ListChanges<Product, ProductDetail>>;
  /**
   * Reads all products and compares them with a snapshot of an earlier call (specification 2.6, 4.3). Without `since`, all products are
   * `added`.
   *
   * A product that is not in the list counts as removed only if reading it gives 404 or 410. Otherwise it moved between pages, and is
   * compared by its details. A change while the list is read is reported by the next call at the latest.
   *
   * @param options `since`: the earlier snapshot, and the options of each request. `priority` is `low` by default. `deadline` limits the
   * whole call.
   * @throws `RequestValidationError` before sending, if `since` is damaged or a snapshot of another list.
   * @throws The errors of the requests. The earlier snapshot stays valid: use it again.
   * @example
   * const { changed, removed, snapshot } = await partner.catalog.products.changes({ since });
   * for (const { current, fields } of changed) console.log(current.name, fields.join(", "));
   */
  changes(options?: ProductChangesOptions): ApiCall<ListChanges<Product>>;
  changes(options: ProductChangesOptions = {}): ApiCall<ListChanges<Product>> {
    const get = (reference: ProductReference, each: RequestOptions) => this.get(reference, each);
    return changesOf(this.#context, { kind: "Product", list: listProducts, options: changesOptions, get }, options);
  }

  /**
   * Downloads one image of a product (specification 4.3). Takes one token of the `downloads` limit.
   *
   * @param filename The name from the product's `media`. The specification does not show the shape of its entries.
   * @throws `NotFoundError` if the product has no image with this name.
   * @example
   * const image = await partner.catalog.products.media(productReference, "front.jpg");
   * await image.saveTo("front.jpg");
   */
  media(productReference: ProductReference, filename: string, options?: UnconditionalOptions): ApiCall<Download>;
  /**
   * Downloads one image of a product if it has changed since an earlier download (specification 4.3). Takes one token of the
   * `downloads` limit.
   *
   * @param filename The name from the product's `media`. The specification does not show the shape of its entries.
   * @param options `etag` or `lastModified` of the earlier download. For an unchanged image the result is `modified: false`.
   * @throws `NotFoundError` if the product has no image with this name.
   * @example
   * const image = await partner.catalog.products.media(productReference, "front.jpg", { etag: '"abc"' });
   * if (image.modified) await image.saveTo("front.jpg");
   */
  media(
    productReference: ProductReference,
    filename: string,
    options: ConditionalOptions | undefined,
  ): ApiCall<Download | NotModified>;
  media(
    productReference: ProductReference,
    filename: string,
    given?: ConditionalOptions,
  ): ApiCall<Download | NotModified> {
    const { options, faults } = conditionally(given);
    return this.#context.send(getProductMedia, { path: { productReference, filename }, faults }, options);
  }

  /**
   * Downloads a layer image by a URL from the product's detail (specification 4.3). The URL must have the origin of the base URL,
   * because the request carries the secret key.
   *
   * @throws `RequestValidationError` before sending, if the URL has another origin. Request such a URL without the key: `fetch(url)`.
   */
  layerImage(url: string | URL, options?: UnconditionalOptions): ApiCall<Download>;
  /**
   * Downloads a layer image if it has changed since an earlier download (specification 4.3). The URL must have the origin of the base
   * URL, because the request carries the secret key.
   *
   * @param options `etag` or `lastModified` of the earlier download. For an unchanged image the result is `modified: false`.
   * @throws `RequestValidationError` before sending, if the URL has another origin.
   */
  layerImage(url: string | URL, options: ConditionalOptions | undefined): ApiCall<Download | NotModified>;
  layerImage(url: string | URL, given?: ConditionalOptions): ApiCall<Download | NotModified> {
    const { options, faults } = conditionally(given);
    return this.#context.send(getLayerImage, { url, faults }, options);
  }

  /**
   * Looks up the v2 reference of a product by its v1 SKU (specification 4.10).
   *
   * @deprecated The service removes the look-up in v3 (specification 9.7).
   * @throws `NotFoundError` if no product has this SKU.
   * @example
   * const productReference = await partner.catalog.products.lookup({ legacySku: "SKU-1" });
   */
  lookup(by: { readonly legacySku: string }, options?: RequestOptions): ApiCall<ProductReference> {
    const { legacySku, ...unknown } = fieldsOf(by);
    return this.#context.send(lookupProduct, { query: { legacyItemSku: legacySku, ...unknown } }, options);
  }
}
