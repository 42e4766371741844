import type { ApiCall } from "./http/call/call.ts";
import type { Send } from "./http/call/core.ts";
import { createObserver } from "./http/call/observer.ts";
import { type AnyRequestOptions, requestAny } from "./http/call/request-any.ts";
import { createSend } from "./http/call/send.ts";
import type { Method } from "./http/endpoint/endpoint.ts";
import { Pacer } from "./http/pacing/pacer.ts";
import type { RateLimits } from "./http/pacing/rate-limits.ts";
import { RetryBudget } from "./http/retry/retry-budget.ts";
import { createRedact } from "./http/wire/redact.ts";
import { createTransport } from "./http/wire/transport.ts";
import { type PodPartnerOptions, resolveOptions } from "./options.ts";
import { AddressesResource } from "./resources/addresses/addresses.ts";
import { AuthResource } from "./resources/auth/auth.ts";
import { CatalogResource } from "./resources/catalog/catalog.ts";
import { ClaimsResource } from "./resources/claims/claims.ts";
import { CompositionsResource } from "./resources/compositions/compositions.ts";
import { EvidenceResource } from "./resources/evidence/evidence.ts";
import { ImagesResource } from "./resources/images/images.ts";
import { OrdersResource } from "./resources/orders/orders.ts";
import { OrganizationResource } from "./resources/organization/organization.ts";
import { PerspectivesResource } from "./resources/perspectives/perspectives.ts";
import { RendersResource } from "./resources/renders/renders.ts";
import { RendertokensResource } from "./resources/rendertokens/rendertokens.ts";
import { ScenesResource } from "./resources/scenes/scenes.ts";
import { ShipmentsResource } from "./resources/shipments/shipments.ts";
import { WarehouseResource } from "./resources/warehouse/warehouse.ts";
import { reliable, systemClock } from "./util/clock.ts";

/**
 * The client of the Print-on-Demand Partner API v2. Make one per process and key: it paces all of its calls together.
 *
 * @throws `ConfigurationError` when an option is missing or wrong.
 * @example
 * const partner = new PodPartner({ baseUrl, secretKey });
 * for await (const order of partner.orders.list()) console.log(order.reference);
 */
export class PodPartner {
  /** The secret key: whether it is valid (specification 4.1). */
  readonly auth: AuthResource;
  /** The organization that the key belongs to, its accounts, stores and brands (specification 4.2). */
  readonly organization: OrganizationResource;
  /** What can be ordered: products, productgroups, packagings (specification 4.3). */
  readonly catalog: CatalogResource;
  /** Stock that you own and the operator stores (specification 4.3). */
  readonly warehouse: WarehouseResource;
  /** Addresses that orders have gone to (specification 4.4). */
  readonly addresses: AddressesResource;
  /** Print images: upload and list (specification 4.5). */
  readonly images: ImagesResource;
  /** Photos for claims: upload (specification 4.5). */
  readonly evidence: EvidenceResource;
  /** Settings that products can be rendered in (specification 4.6). */
  readonly scenes: ScenesResource;
  /** Cameras on scenes and on products (specification 4.6). */
  readonly perspectives: PerspectivesResource;
  /** Valid combinations of scene, product and perspective (specification 4.6). */
  readonly compositions: CompositionsResource;
  /** Mockups: create, wait, download, many at a time (specification 4.6). */
  readonly renders: RendersResource;
  /** The week's budget for renders (specification 4.6). */
  readonly rendertokens: RendertokensResource;
  /** Orders and quotes: place at most once, read, cancel, readdress (specification 4.7). */
  readonly orders: OrdersResource;
  /** Parcels and their tracking (specification 4.8). */
  readonly shipments: ShipmentsResource;
  /** Claims about shipments: file at most once, read, retract (specification 4.9). */
  readonly claims: ClaimsResource;
  readonly #send: Send;
  readonly #pacer: Pacer;

  constructor(options: PodPartnerOptions = {}) {
    const { secretKey, fetch, hooks, logger, pacing, assumptions, ...resolved } = resolveOptions(options);
    const { baseUrl } = resolved;
    const clock = options.clock === undefined ? systemClock : reliable(options.clock);
    const observe = createObserver(hooks, logger);
    const store = typeof pacing === "object" ? pacing.store : undefined;
    this.#pacer = new Pacer(
      clock,
      store && ((own, wake) => store.join({ baseUrl, secretKey, clock, observe, own, wake })),
    );
    this.#send = createSend({
      ...resolved,
      clock,
      pacer: this.#pacer,
      retryBudget: new RetryBudget(),
      processingTime: assumptions.processingTime,
      paced: pacing !== false,
      transport: createTransport(secretKey, fetch),
      observe,
      redact: createRedact(secretKey),
    });
    const send = this.#send;
    const context = { clock, deadline: resolved.deadline, pacer: this.#pacer };
    this.auth = new AuthResource(send);
    this.organization = new OrganizationResource(send);
    this.catalog = new CatalogResource(send);
    this.warehouse = new WarehouseResource(send);
    this.addresses = new AddressesResource(send);
    this.images = new ImagesResource(send);
    this.evidence = new EvidenceResource(send);
    this.scenes = new ScenesResource(send);
    this.perspectives = new PerspectivesResource(send);
    this.compositions = new CompositionsResource(send);
    this.renders = new RendersResource(send, context);
    this.rendertokens = new RendertokensResource(send);
    this.orders = new OrdersResource(send, assumptions, context);
    this.shipments = new ShipmentsResource(send);
    this.claims = new ClaimsResource(send, clock);
  }

  /** A live picture of each rate-limit policy: quota, window, tokens left, when the next one comes (specification 8). */
  get rateLimits(): RateLimits {
    return this.#pacer.snapshot();
  }

  /**
   * Calls an endpoint that the SDK does not know yet, with all that it does for the others: pacing, retries, errors.
   *
   * A GET is repeated after a lost answer, and so are PUT and DELETE; anything else ends as `OutcomeUnknownError`.
   *
   * @param path Relative to the base URL, beginning with a slash, its variable parts encoded.
   * @throws `RequestValidationError` before sending, when the method or the path is none.
   * @throws `ApiError` when the service refuses; each status has a class of its own.
   * @throws `ResponseValidationError` when the answer is no JSON, or not what `schema` says.
   * @throws `OutcomeUnknownError` when the answer to a POST or PATCH was lost.
   * @example
   * const answer = await partner.request("GET", "/productgroups", { query: { page: 2 } });
   */
  request<Data = unknown>(method: Method, path: string, options: AnyRequestOptions<Data> = {}): ApiCall<Data> {
    return requestAny(this.#send, method, path, options);
  }
}
