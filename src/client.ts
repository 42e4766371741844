import type { Method } from "./http/endpoint.ts";
import type { RateLimits } from "./http/pacing/forecast.ts";
import { type ApiCall, createSend, type Send } from "./http/send.ts";
import type { CallTracer } from "./http/tracing.ts";
import type { PodPartnerOptions } from "./options.ts";
import { type CallDefaults, type ClientParts, createClientParts, withDefaults } from "./parts.ts";
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
import { type AnyRequestOptions, requestAny } from "./resources/request-any.ts";
import { ScenesResource } from "./resources/scenes/scenes.ts";
import { ShipmentsResource } from "./resources/shipments/shipments.ts";
import { WarehouseResource } from "./resources/warehouse/warehouse.ts";
import type { StorageHealth } from "./storage/client-storage.ts";
import type { KeyValueStorage } from "./storage/contract.ts";

/** The parts of the clients that `withOptions` makes, by the options object that stands for them. */
const partsFor = new WeakMap<PodPartnerOptions, ClientParts>();

/** Binds the methods of a client and of its resources, so that they can be passed as functions: `const { get } = partner.orders`. */
function bindMethods(resource: object): void {
  for (let type = Object.getPrototypeOf(resource); type !== Object.prototype; type = Object.getPrototypeOf(type)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
      if (name === "constructor" || typeof value !== "function" || Object.hasOwn(resource, name)) continue;
      Object.defineProperty(resource, name, { value: value.bind(resource), writable: true, configurable: true });
    }
  }
  for (const part of Object.values(resource)) if (typeof part === "object") bindMethods(part);
}

/**
 * Calls the Print-on-Demand Partner API v2. Create one client per process and key: a client paces all its calls together.
 *
 * @throws `ConfigurationError` if an option is missing, invalid or unknown.
 * @example
 * const partner = new PodPartner({ baseUrl, secretKey });
 * for await (const order of partner.orders.list()) console.log(order.reference);
 */
export class PodPartner {
  /** Validates the secret key (specification 4.1). */
  readonly auth: AuthResource;
  /** Reads the organization of the key, its accounts, stores and brands (specification 4.2). */
  readonly organization: OrganizationResource;
  /** Reads products, productgroups and packagings (specification 4.3). */
  readonly catalog: CatalogResource;
  /** Reads the stock that you own and the operator stores (specification 4.3). */
  readonly warehouse: WarehouseResource;
  /** Reads addresses of orders and shipments (specification 4.4). */
  readonly addresses: AddressesResource;
  /** Uploads and lists print images (specification 4.5). */
  readonly images: ImagesResource;
  /** Uploads photos for claims (specification 4.5). */
  readonly evidence: EvidenceResource;
  /** Reads the scenes that products are rendered in (specification 4.6). */
  readonly scenes: ScenesResource;
  /** Reads the camera perspectives of scenes and products (specification 4.6). */
  readonly perspectives: PerspectivesResource;
  /** Looks up valid combinations of scene, product and perspective (specification 4.6). */
  readonly compositions: CompositionsResource;
  /** Creates, waits for and downloads mockups, one or many at a time (specification 4.6). */
  readonly renders: RendersResource;
  /** Reads the weekly rendertoken limit (specification 4.6). */
  readonly rendertokens: RendertokensResource;
  /** Places, reads, cancels and quotes orders; an order is never placed twice (specification 4.7). */
  readonly orders: OrdersResource;
  /** Reads shipments and their tracking (specification 4.8). */
  readonly shipments: ShipmentsResource;
  /** Files, reads and retracts claims; a claim is never filed twice (specification 4.9). */
  readonly claims: ClaimsResource;
  readonly #send: Send;
  readonly #parts: ClientParts;
  /** Names the client's part of a storage. For `pod-partner/callbacks`; not for your code. */
  declare readonly "~scopeOf": (storage: KeyValueStorage) => Promise<string>;
  /** Runs each call and each of its steps in a tracer. Returns a function that ends it. For `pod-partner/opentelemetry`; not for your code. */
  declare readonly "~follow": (tracer: CallTracer) => () => void;

  constructor(options: PodPartnerOptions = {}) {
    const parts = partsFor.get(options) ?? createClientParts(options);
    const { core, assumptions, openStorage, shared, memory } = parts;
    const { uploads } = memory;
    const { clock, timeout, deadline, retry, priority, observer } = core;
    const sends = createSend(core);
    const context = { ...sends, clock, timeout, deadline, retry, priority, openStorage, shared, observer, uploads };
    this.#send = sends.send;
    this.#parts = parts;
    this.auth = new AuthResource(context);
    this.organization = new OrganizationResource(context);
    this.catalog = new CatalogResource(context);
    this.warehouse = new WarehouseResource(context);
    this.addresses = new AddressesResource(context);
    this.images = new ImagesResource(context);
    this.evidence = new EvidenceResource(context);
    this.scenes = new ScenesResource(context);
    this.perspectives = new PerspectivesResource(context);
    this.compositions = new CompositionsResource(context);
    this.renders = new RendersResource(context);
    this.rendertokens = new RendertokensResource(context);
    this.orders = new OrdersResource(context, assumptions, memory.orders);
    this.shipments = new ShipmentsResource(context);
    this.claims = new ClaimsResource(context, memory.claims);
    // Not enumerable, and no methods of the class: what lists the client's members does not see them.
    Object.defineProperties(this, {
      "~scopeOf": { value: parts.scopeOf },
      "~follow": {
        value: (tracer: CallTracer) =>
          observer.follow((trace, work, url) => tracer(trace, work, url && core.redact(url))),
      },
    });
    bindMethods(this);
  }

  /**
   * Returns this client with other defaults for its calls, for example for the calls of one job. It is not a second client: both share the
   * pacing, the storage, what is remembered of orders and claims, the hooks, the logger and the traces.
   *
   * Each call behaves as if it had these options. Its own options come first; `headers` are joined by name, and `retry` by field.
   *
   * @param options The defaults to replace. Missing ones stay as they are in this client.
   * @throws `ConfigurationError` if an option is invalid or unknown.
   * @example
   * const nightly = partner.withOptions({ priority: "low", deadline: 600_000 });
   * for await (const order of nightly.orders.list()) console.log(order.reference);
   *
   */
  withOptions(options: CallDefaults): PodPartner {
    const forParts = {};
    partsFor.set(forParts, { ...this.#parts, core: withDefaults(this.#parts.core, options) });
    return new PodPartner(forParts);
  }

  /**
   * Returns the current state of each rate-limit policy (specification 8): quota, window, remaining tokens and the time of the next
   * token. Times are in milliseconds.
   */
  get rateLimits(): RateLimits {
    return this.#parts.core.pacer.rateLimits();
  }

  /**
   * Returns the health of the client's storage. While it is lost, orders, claims and the renders of a batch wait for it, unless
   * `storageLost` is `continue`.
   *
   * @example
   * if ((await partner.storage.check()) === "lost") console.warn("Orders wait for the storage.");
   */
  get storage(): StorageHealth {
    return this.#parts.storageHealth();
  }

  /**
   * Calls an endpoint that the SDK does not know yet, with the same pacing, retries and errors as the known endpoints.
   *
   * If the response is lost, GET, PUT and DELETE are retried. POST and PATCH end as `OutcomeUnknownError`.
   *
   * @param path The path relative to the base URL, with a leading slash. Encode its variable parts.
   * @throws `RequestValidationError` before sending, if the method, the path or an option is invalid.
   * @throws `ApiError` if the service returns an error status. Each status has a subclass.
   * @throws `ResponseValidationError` if the response is not JSON or does not match `schema`.
   * @throws `OutcomeUnknownError` if the response to a POST or PATCH was lost.
   * @example
   * const response = await partner.request("GET", "/productgroups", { query: { page: 2 } });
   */
  request<Data = unknown>(method: Method, path: string, options: AnyRequestOptions<Data> = {}): ApiCall<Data> {
    return requestAny(this.#send, method, path, options);
  }
}
