import type { Call } from "./http/call.ts";
import type { Send } from "./http/core.ts";
import type { Method } from "./http/endpoint.ts";
import { createObserver } from "./http/observer.ts";
import { Pacer } from "./http/pacing/pacer.ts";
import type { RateLimits } from "./http/pacing/rate-limits.ts";
import { createSend } from "./http/pipeline.ts";
import { type AnyRequestOptions, requestAny } from "./http/request-any.ts";
import { RetryBudget } from "./http/retry-budget.ts";
import { createRedact } from "./http/snapshot.ts";
import { createTransport } from "./http/transport.ts";
import { type PodPartnerOptions, resolveOptions } from "./options.ts";
import { Addresses } from "./resources/addresses/addresses.ts";
import { Auth } from "./resources/auth/auth.ts";
import { Catalog } from "./resources/catalog/catalog.ts";
import { Claims } from "./resources/claims/claims.ts";
import { Compositions } from "./resources/compositions/compositions.ts";
import { Evidence } from "./resources/evidence/evidence.ts";
import { Images } from "./resources/images/images.ts";
import { Orders } from "./resources/orders/orders.ts";
import { Organization } from "./resources/organization/organization.ts";
import { Perspectives } from "./resources/perspectives/perspectives.ts";
import { Renders } from "./resources/renders/renders.ts";
import { Rendertokens } from "./resources/rendertokens/rendertokens.ts";
import { Scenes } from "./resources/scenes/scenes.ts";
import { Shipments } from "./resources/shipments/shipments.ts";
import { Warehouse } from "./resources/warehouse/warehouse.ts";

/**
 * The client of the Print-on-Demand Partner API v2. Make one per process and key: it paces all of its calls together.
 *
 * @throws `ConfigurationError` when an option is missing or wrong.
 * @example
 * const partner = new PodPartner({ baseUrl, secretKey });
 * for await (const order of partner.orders.list()) console.log(order.reference);
 */
export class PodPartner {
  readonly auth: Auth;
  readonly organization: Organization;
  readonly catalog: Catalog;
  readonly warehouse: Warehouse;
  readonly addresses: Addresses;
  readonly images: Images;
  readonly evidence: Evidence;
  readonly scenes: Scenes;
  readonly perspectives: Perspectives;
  readonly compositions: Compositions;
  readonly renders: Renders;
  readonly rendertokens: Rendertokens;
  readonly orders: Orders;
  readonly shipments: Shipments;
  readonly claims: Claims;
  readonly #send: Send;
  readonly #pacer: Pacer;

  constructor(options: PodPartnerOptions = {}) {
    const { secretKey, fetch, hooks, logger, pacing, assumptions, ...resolved } = resolveOptions(options);
    const { clock, baseUrl } = resolved;
    const observe = createObserver(hooks, logger);
    const store = typeof pacing === "object" ? pacing.store : undefined;
    this.#pacer = new Pacer(
      clock,
      store && ((own, wake) => store.join({ baseUrl, secretKey, clock, observe, own, wake })),
    );
    this.#send = createSend({
      ...resolved,
      pacer: this.#pacer,
      retryBudget: new RetryBudget(),
      paced: pacing !== false,
      transport: createTransport(secretKey, fetch),
      observe,
      redact: createRedact(secretKey),
    });
    const send = this.#send;
    this.auth = new Auth(send);
    this.organization = new Organization(send);
    this.catalog = new Catalog(send);
    this.warehouse = new Warehouse(send);
    this.addresses = new Addresses(send);
    this.images = new Images(send);
    this.evidence = new Evidence(send);
    this.scenes = new Scenes(send);
    this.perspectives = new Perspectives(send);
    this.compositions = new Compositions(send);
    this.renders = new Renders(send, clock);
    this.rendertokens = new Rendertokens(send);
    this.orders = new Orders(send, assumptions, clock);
    this.shipments = new Shipments(send);
    this.claims = new Claims(send, clock);
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
   * @example
   * const answer = await partner.request("GET", "/productgroups", { query: { page: 2 } });
   */
  request<Data = unknown>(method: Method, path: string, options: AnyRequestOptions<Data> = {}): Call<Data> {
    return requestAny(this.#send, method, path, options);
  }
}
