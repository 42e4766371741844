import type { Method } from "./http/endpoint.ts";
import type { StorageLostEvent } from "./http/events.ts";
import { fetchTransport } from "./http/fetch-transport.ts";
import { Observer } from "./http/observer.ts";
import type { RateLimits } from "./http/pacing/forecast.ts";
import { Pacer } from "./http/pacing/pacer.ts";
import { Pulse } from "./http/pulse.ts";
import { createRedact } from "./http/redact.ts";
import { RetryBudget } from "./http/retry-budget.ts";
import { type ApiCall, createSend, type Send } from "./http/send.ts";
import type { CallTracer } from "./http/tracing.ts";
import { createSender } from "./http/transport.ts";
import { type PodPartnerOptions, resolveOptions } from "./options.ts";
import { AddressesResource } from "./resources/addresses/addresses.ts";
import { AuthResource } from "./resources/auth/auth.ts";
import { CatalogResource } from "./resources/catalog/catalog.ts";
import { ClaimsResource } from "./resources/claims/claims.ts";
import { CompositionsResource } from "./resources/compositions/compositions.ts";
import { EvidenceResource } from "./resources/evidence/evidence.ts";
import { ImagesResource } from "./resources/images/images.ts";
import type { RunningUploads } from "./resources/images/upload-once.ts";
import { OrdersResource } from "./resources/orders/orders.ts";
import { OrganizationResource } from "./resources/organization/organization.ts";
import { PerspectivesResource } from "./resources/perspectives/perspectives.ts";
import { RendersResource } from "./resources/renders/renders.ts";
import { RendertokensResource } from "./resources/rendertokens/rendertokens.ts";
import { type AnyRequestOptions, requestAny } from "./resources/request-any.ts";
import { ScenesResource } from "./resources/scenes/scenes.ts";
import { ShipmentsResource } from "./resources/shipments/shipments.ts";
import { WarehouseResource } from "./resources/warehouse/warehouse.ts";
import { type ClientStorage, openStorage as openClientStorage, type StorageHealth } from "./storage/client-storage.ts";
import type { KeyValueStorage } from "./storage/contract.ts";
import { createScopeOf } from "./storage/scoped-storage.ts";
import { KeyedMutex } from "./util/concurrency.ts";

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
  readonly #pacer: Pacer;
  readonly #storageKind: string;
  readonly #openStorage: () => Promise<ClientStorage>;
  #isStorageLost = false;
  /** Names the client's part of a storage. For `pod-partner/callbacks`; not for your code. */
  declare readonly "~scopeOf": (storage: KeyValueStorage) => Promise<string>;
  /** Runs each call and each of its steps in a tracer. Returns a function that ends it. For `pod-partner/opentelemetry`; not for your code. */
  declare readonly "~follow": (tracer: CallTracer) => () => void;

  constructor(options: PodPartnerOptions = {}) {
    const { secretKey, fetch, transport, hooks, logger, pacing, storage, storageLost, assumptions, ...resolved } =
      resolveOptions(options);
    const { baseUrl, clock } = resolved;
    const observer = new Observer(hooks, logger);
    const { shared: fleet, ceiling } = pacing ?? {};
    const redact = createRedact(secretKey);
    const reportsOf = (option: StorageLostEvent["option"]) => ({
      onLost: (reason: string) => {
        if (option === "storage") this.#isStorageLost = true;
        observer.observe("onStorageLost", { option, reason: redact(reason) });
      },
      onBack: () => {
        if (option === "storage") this.#isStorageLost = false;
        observer.observe("onStorageBack", { option });
      },
    });
    this.#storageKind = storage?.kind ?? "none";
    this.#pacer = new Pacer(clock, {
      open:
        fleet && ((own, wake) => fleet.join({ baseUrl, secretKey, clock, ...reportsOf("pacing.shared"), own, wake })),
      ceiling,
      paced: pacing !== undefined,
    });
    const scopeOf = createScopeOf(baseUrl, secretKey);
    // The storage is opened at its first use.
    let opened: Promise<ClientStorage> | undefined;
    const openStorage = () =>
      (opened ??= openClientStorage({ storage, scopeOf, clock, reports: reportsOf("storage") }));
    const core = {
      ...resolved,
      pacer: this.#pacer,
      retryBudget: new RetryBudget(clock),
      pulse: new Pulse(clock),
      creations: new KeyedMutex(),
      processingTime: assumptions.processingTime,
      lookupTime: assumptions.lookupTime,
      fields: assumptions.fields,
      paced: pacing !== undefined,
      transport: createSender(secretKey, transport ?? fetchTransport(fetch), clock),
      observer,
      redact,
    };
    const { send, start, run } = createSend(core);
    this.#send = send;
    this.#openStorage = openStorage;
    const shared = storage && { open: openStorage, whenLost: storageLost };
    const context = { ...resolved, start, run, openStorage, shared, observer };
    this.auth = new AuthResource(send);
    this.organization = new OrganizationResource(send, context);
    this.catalog = new CatalogResource(send, context);
    this.warehouse = new WarehouseResource(send, context);
    this.addresses = new AddressesResource(send);
    const runningUploads: RunningUploads = new Map();
    this.images = new ImagesResource(send, context, runningUploads);
    this.evidence = new EvidenceResource(send, context);
    this.scenes = new ScenesResource(send, context);
    this.perspectives = new PerspectivesResource(send, context);
    this.compositions = new CompositionsResource(send, context);
    this.renders = new RendersResource(send, context, runningUploads);
    this.rendertokens = new RendertokensResource(send);
    this.orders = new OrdersResource(send, assumptions, context);
    this.shipments = new ShipmentsResource(send);
    this.claims = new ClaimsResource(send, context);
    // Not enumerable, and no methods of the class: what lists the client's members does not see them.
    Object.defineProperties(this, {
      "~scopeOf": { value: scopeOf },
      "~follow": { value: (tracer: CallTracer) => observer.follow(tracer) },
    });
    bindMethods(this);
  }

  /**
   * Returns the current state of each rate-limit policy (specification 8): quota, window, remaining tokens and the time of the next
   * token. Times are in milliseconds.
   */
  get rateLimits(): RateLimits {
    return this.#pacer.rateLimits();
  }

  /**
   * Returns the health of the client's storage. While it is lost, orders, claims and the renders of a batch wait for it, unless
   * `storageLost` is `continue`.
   *
   * @example
   * if ((await partner.storage.check()) === "lost") console.warn("Orders wait for the storage.");
   */
  get storage(): StorageHealth {
    const check = async () => ((await (await this.#openStorage()).check()) ? "ready" : "lost");
    // An idle process learns that its storage is back.
    if (this.#isStorageLost) void check();
    return { kind: this.#storageKind, state: this.#isStorageLost ? "lost" : "ready", check };
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
