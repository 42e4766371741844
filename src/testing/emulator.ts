import type { DemoCatalog } from "./catalog/demo.ts";
import type { EmulatorClock } from "./clock/emulator-clock.ts";
import { type CallbackControls, callbackControls } from "./controls/callbacks.ts";
import { methodsOf } from "./controls/control.ts";
import { type Controls, createControls } from "./controls/table.ts";
import { carryOut } from "./controls/tasks.ts";
import { Emulation } from "./emulation.ts";
import { applyFault } from "./faults/apply-fault.ts";
import { addRateLimits } from "./faults/fault-limits.ts";
import { createFaults, type Faults } from "./faults/faults.ts";
import { createRouter } from "./http/router.ts";
import { callerOf, createService, policiesOf } from "./http/service.ts";
import { type EmulatorOptions, toSettings } from "./options.ts";
import type { RequestLog } from "./recorder/logged-request.ts";
import { Recorder } from "./recorder/recorder.ts";
import { createRequestLog } from "./recorder/request-log.ts";
import { allRoutes } from "./routes/table.ts";

/** A stateful emulator of the whole service, with controls for what the operator does. */
export interface Emulator extends Controls {
  /** Ends in `/v2`. */
  readonly baseUrl: string;
  /** The key that requests must carry. */
  readonly secretKey: string;
  /** The time in the emulated service, with controls: it can be frozen, moved forward, and sped up. */
  readonly clock: EmulatorClock;
  /** The references of the demo catalog, by name. */
  readonly demo: DemoCatalog;
  /** The last 5,000 requests, oldest first. The option `requestLog` changes the bounds. */
  readonly requests: RequestLog;
  /** The order-updated callbacks that were sent or wait: their log, and controls to wait for them and to send them again. */
  readonly callbacks: CallbackControls;
  /** Faults between clients and the emulator: dropped connections, error statuses, broken bodies. */
  readonly faults: Faults;
  /**
   * Responds to a request as the service does. Use it as the client's `fetch` option. Only the path of the URL matters.
   *
   * An aborted request rejects with the reason of its signal.
   */
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
}

/**
 * Makes an emulator of the service in this process, without a port. It keeps its state in memory.
 *
 * @example
 * const emulator = createEmulator();
 * const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey, fetch: emulator.fetch });
 */
export const createEmulator = (options: EmulatorOptions = {}): Emulator => createParts(options).emulator;

/** An emulator, with its inside for the controls and the page. */
interface EmulatorParts {
  readonly emulator: Emulator;
  readonly emulation: Emulation;
  readonly recorder: Recorder;
}

/** Makes an emulator, with its inside for the controls and the page. */
export function createParts(options: EmulatorOptions): EmulatorParts {
  const settings = toSettings(options);
  const routes = allRoutes();
  const endpoints = routes.map(({ endpoint }) => endpoint);
  const faults = createFaults(endpoints);
  const log = createRequestLog(settings.requestLog, endpoints);
  const emulation = new Emulation(settings, { faults, requests: log.requests }, carryOut);
  const { clock } = emulation;
  const recorder = new Recorder({ ...settings, clock, log });
  const find = createRouter(routes, settings.baseUrl);
  const service = createService(emulation, find);

  const emulator: Emulator = {
    baseUrl: settings.baseUrl,
    secretKey: settings.secretKey,
    clock,
    get demo() {
      return emulation.worlds[0].demo;
    },
    requests: log.requests,
    callbacks: methodsOf(callbackControls, emulation),
    faults: { add: faults.add, clear: faults.clear },
    fetch: async (input, init) => {
      // A copy of a Request has the method GET when the original's method is TRACE.
      const request = input instanceof Request && init === undefined ? input : new Request(input, init);
      // The signal of a Request follows the caller's signal only while the Request is in use.
      const signal = init?.signal ?? request.signal;
      signal.throwIfAborted();
      const url = new URL(request.url);
      const match = find(request.method, url);
      const endpoint = match?.route.endpoint;
      const fault = faults.faultFor(endpoint);
      const tokens = () => callerOf(emulation, request)?.world.rateLimits.levels();
      return await recorder.record({ request, url, call: endpoint?.call, fault: fault?.fault, tokens }, async () => {
        const response =
          fault === undefined ? await service(request) : await applyFault(service, request, signal, fault, clock.wire);
        const caller = fault === undefined ? undefined : callerOf(emulation, request);
        if (fault !== undefined && caller !== undefined) {
          addRateLimits(response, fault, policiesOf(match), caller.world.rateLimits);
        }
        signal.throwIfAborted();
        // Without this, node:http adds a Date by the machine's time, which can differ from the emulator's clock.
        if (!response.headers.has("Date")) response.headers.set("Date", new Date(clock.now()).toUTCString());
        return response;
      });
    },
    ...createControls(emulation),
  };
  return { emulator, emulation, recorder };
}
