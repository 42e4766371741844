import type { Policy } from "../http/endpoint/endpoint.ts";
import type { PartnerClock } from "../util/clock.ts";
import type { DemoCatalog } from "./catalog/demo.ts";
import { type CatalogControls, createCatalogControls } from "./controls/catalog.ts";
import { type ClaimControls, createClaimControls } from "./controls/claims.ts";
import { createOrderControls, type OrderControls } from "./controls/orders.ts";
import { createRenderControls, type RenderControls } from "./controls/renders.ts";
import { applyFault } from "./faults/apply-fault.ts";
import { addRateLimits } from "./faults/fault-limits.ts";
import { createFaults, type Faults } from "./faults/faults.ts";
import { createRequestLog, type LoggedRequest } from "./http/request-log.ts";
import { createRouter } from "./http/router.ts";
import { createService, isAuthenticated, policiesOf } from "./http/service.ts";
import { type EmulatorOptions, toSettings } from "./options.ts";
import { allRoutes } from "./routes/table.ts";
import { seedOrders } from "./state/seed.ts";
import { createWorld } from "./state/world.ts";

/** A stateful emulator of the whole service, with controls for what the operator does. */
export interface Emulator extends OrderControls, ClaimControls, RenderControls, CatalogControls {
  /** Ends in `/v2`. */
  readonly baseUrl: string;
  /** The key that requests must carry. */
  readonly secretKey: string;
  readonly clock: PartnerClock;
  /** The references of the demo catalog, by name. */
  readonly demo: DemoCatalog;
  /** The last 1000 requests, oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** Faults between clients and the emulator: dropped connections, error statuses, broken bodies. */
  readonly faults: Faults;
  /**
   * Responds to a request as the service does. Use it as the client's `fetch` option. Only the path of the URL matters.
   *
   * An aborted request rejects with the reason of its signal.
   */
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
  /** Draws tokens from a rate-limit bucket, as another client of the organization does. Default: all tokens. */
  drain(policy: Policy, tokens?: number): void;
}

/**
 * Makes an emulator of the service in this process, without a port. It keeps its state in memory.
 *
 * @example
 * const emulator = createEmulator();
 * const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey, fetch: emulator.fetch });
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const settings = toSettings(options);
  const world = createWorld(settings);
  seedOrders(world, settings.orders);
  const routes = allRoutes();
  const find = createRouter(routes, settings.baseUrl);
  const service = createService(world, find);
  const faults = createFaults(routes.map(({ endpoint }) => endpoint));
  const log = createRequestLog(settings.baseUrl);

  return {
    baseUrl: settings.baseUrl,
    secretKey: settings.secretKey,
    clock: settings.clock,
    demo: world.demo,
    requests: log.entries,
    faults: { add: faults.add, clear: faults.clear },
    fetch: async (input, init) => {
      // A copy of a Request has the method GET when the original's method is TRACE.
      const request = input instanceof Request && init === undefined ? input : new Request(input, init);
      // The signal of a Request follows the caller's signal only while the Request is in use.
      const signal = init?.signal ?? request.signal;
      signal.throwIfAborted();
      const entry = log.add(request);
      const match = find(request.method, new URL(request.url));
      const fault = faults.faultFor(match?.route.endpoint);
      const response =
        fault === undefined
          ? await service(request)
          : await applyFault(service, request, signal, fault, settings.clock);
      if (fault !== undefined && isAuthenticated(request, world)) {
        addRateLimits(response, fault, policiesOf(match), world.rateLimits);
      }
      signal.throwIfAborted();
      // Without this, node:http adds a Date by the machine's time, which can differ from the emulator's clock.
      if (!response.headers.has("Date")) response.headers.set("Date", new Date(settings.clock.now()).toUTCString());
      entry.status = response.status;
      return response;
    },
    drain: world.rateLimits.drain,
    ...createOrderControls(world),
    ...createClaimControls(world),
    ...createRenderControls(world),
    ...createCatalogControls(world),
  };
}
