import type { Download, NotModified } from "../../binary/download.ts";
import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import { type ConditionalOptions, conditionally, type UnconditionalOptions } from "../../http/endpoint/conditional.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { paginate } from "../../pagination/paginate.ts";
import type { ListOptions, Paginator } from "../../pagination/paginator.ts";
import type { ProductReference } from "../../references/references.ts";
import { getLayerImage, getProduct, getProductMedia, listProducts, lookupProduct } from "./catalog.endpoints.ts";
import type { Product, ProductDetail } from "./catalog.schema.ts";

/** The orderable entries of the catalog (specification 2.6, 4.3). */
export class ProductsResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Iterates all products (specification 4.3).
   *
   * @example
   * for await (const { reference, status } of partner.catalog.products.list()) {
   *   if (status === "launched") console.log(reference);
   * }
   */
  list(options?: ListOptions): Paginator<Product> {
    return paginate(this.#send, listProducts, {}, options);
  }

  /**
   * Reads one product in full (specification 2.6).
   *
   * @throws `GoneError` when it is archived; `NotFoundError` when there is none of this reference.
   */
  get(productReference: ProductReference, options?: RequestOptions): ApiCall<ProductDetail> {
    return this.#send(getProduct, { path: { productReference } }, options);
  }

  /**
   * Downloads one of the product's images (specification 4.3). Draws from the `downloads` bucket.
   *
   * @param filename As the product's `media` names it; the shape of those entries is not shown.
   * @throws `NotFoundError` when the product has no such image.
   * @example
   * const image = await partner.catalog.products.media(productReference, "front.jpg");
   * await image.saveTo("front.jpg");
   */
  media(productReference: ProductReference, filename: string, options?: UnconditionalOptions): ApiCall<Download>;
  /**
   * Downloads one of the product's images unless it is still the one you have (specification 4.3). Draws from the `downloads`
   * bucket.
   *
   * @param filename As the product's `media` names it; the shape of those entries is not shown.
   * @param options `etag` or `lastModified` of an earlier download: an unchanged image gives `modified: false`.
   * @throws `NotFoundError` when the product has no such image.
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
    return this.#send(getProductMedia, { path: { productReference, filename }, faults }, options);
  }

  /**
   * Downloads a layer image by the URL that a product's detail gives (specification 4.3). Only URLs of the base URL's origin are
   * accepted, since the key goes along.
   *
   * @throws `RequestValidationError` before sending, when the URL is of another origin.
   */
  layerImage(url: string | URL, options?: UnconditionalOptions): ApiCall<Download>;
  /**
   * Downloads a layer image unless it is still the one you have (specification 4.3). Only URLs of the base URL's origin are
   * accepted, since the key goes along.
   *
   * @param options `etag` or `lastModified` of an earlier download: an unchanged image gives `modified: false`.
   * @throws `RequestValidationError` before sending, when the URL is of another origin.
   */
  layerImage(url: string | URL, options: ConditionalOptions | undefined): ApiCall<Download | NotModified>;
  layerImage(url: string | URL, given?: ConditionalOptions): ApiCall<Download | NotModified> {
    const { options, faults } = conditionally(given);
    return this.#send(getLayerImage, { url: String(url), faults }, options);
  }

  /**
   * Finds the v2 reference of a v1 SKU (specification 4.10). Removed in v3.
   *
   * @throws `NotFoundError` when no product has this SKU.
   */
  lookup(by: { readonly legacySku: string }, options?: RequestOptions): ApiCall<ProductReference> {
    return this.#send(lookupProduct, { query: { legacyItemSku: by?.legacySku } }, options);
  }
}
