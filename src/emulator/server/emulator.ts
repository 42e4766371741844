import { ConfigurationError } from "../../errors/validation.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { PodPartnerOptions } from "../../options.ts";
import { eitherSignal, throwIfAborted } from "../../util/abort-signals.ts";
import { attempt, isObject, propertyOf, textOf } from "../../util/foreign.ts";
import { unknownPattern } from "../base/endpoint-names.ts";
import { assertCurrent, type Lifetime, type Service, WholeResponse } from "../base/messages.ts";
import type { DemoCatalog } from "../catalog/catalog.ts";
import { organizationIssues, type StoredKey } from "../catalog/organization.ts";
import type { EmulatorClock } from "../clock/emulator-clock.ts";
import { carryOut } from "../controls/automation.ts";
import { type CallbackControls, callbackControls } from "../controls/callbacks.ts";
import { methodsOf } from "../controls/control.ts";
import { plant } from "../controls/seed.ts";
import { type Controls, createControls } from "../controls/table.ts";
import { addRateLimits, applyFault } from "../faults/apply-fault.ts";
import type { Fault } from "../faults/fault.ts";
import { createFaults, type Faults } from "../faults/faults.ts";
import { callerOf, createRouter, createService, type Match, policiesOf } from "../http/service.ts";
import type { RequestLog } from "../recorder/logged-request.ts";
import { Recorder } from "../recorder/recorder.ts";
import { createRequestLog } from "../recorder/request-log.ts";
import { allRoutes } from "../routes/table.ts";
import { renderStatus } from "../rules/renders.ts";
import { type EmulatorOptions, type Settings, toSettings } from "../settings/options.ts";
import { Emulation } from "../state/emulation.ts";

/** The options of a client of an emulator. Add others with `{ ...emulator.clientOptions, timeout: 5_000 }`. */
export type EmulatorClientOptions = Pick<PodPartnerOptions, "fetch" | "clock" | "assumptions"> &
  Required<Pick<PodPartnerOptions, "baseUrl" | "secretKey" | "responses">>;

/** A stateful emulator of the whole service, with controls for what the operator does. */
export interface Emulator extends Controls {
  /** Ends in `/v2`. */
  readonly baseUrl: string;
  /** The key that requests must carry: the first one of the demo organization. */
  readonly secretKey: string;
  /**
   * The options of a client of this emulator: its base URL, its key, `fetch` unless the emulator listens on a port, the clock that the
   * emulator was given, and what it was given of `assumptions`. `responses` is `throw`, so that a test fails at each fault of a response.
   *
   * @example
   * const partner = new PodPartner(emulator.clientOptions);
   */
  readonly clientOptions: EmulatorClientOptions;
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
 * const partner = new PodPartner(emulator.clientOptions);
 */
export const createEmulator = (options: EmulatorOptions = {}): Emulator => createParts(options).emulator;

/** An emulator, with its inside for the controls and the page. */
export interface EmulatorParts {
  readonly emulator: Emulator;
  readonly emulation: Emulation;
  readonly recorder: Recorder;
}

/** A client of an emulator on a port waits for the network, which no clock can skip. */
function checkClock(clock: EmulatorOptions["clock"], onPort: boolean): void {
  if (clock !== "skip" || !onPort) return;
  const message = '"skip" works only with `createEmulator`: what is sent to a port takes real time';
  throw new ConfigurationError({ issues: [{ path: ["clock"], message }] }, "emulator");
}

/** Throws a {@link ConfigurationError} for organizations that contradict each other, and for names of calls that do not exist. */
function checkCalls({ organizations, unavailable }: Settings, endpoints: readonly Endpoint[]): void {
  const call = unknownPattern(unavailable, endpoints);
  const issues = [
    ...organizationIssues(organizations, endpoints),
    ...(call === undefined ? [] : [{ path: ["unavailable"], message: `${call} is an unknown call` }]),
  ];
  if (issues.length > 0) throw new ConfigurationError({ issues }, "emulator");
}

/** The key that `secretKey` gives: the first one of the demo organization. */
function firstKeyOf({ worlds: [demo] }: Emulation): StoredKey {
  const [key] = demo.keys.values();
  if (key === undefined) throw new TypeError("The demo organization has no key");
  return key;
}

const clientOptionsOf = (
  { baseUrl, secretKey, fetch }: Emulator,
  { clock, assumptions }: Pick<PodPartnerOptions, "clock" | "assumptions">,
  onPort: boolean,
): EmulatorClientOptions => ({
  baseUrl,
  secretKey,
  responses: "throw",
  ...(onPort ? {} : { fetch }),
  ...(clock === undefined ? {} : { clock }),
  ...(assumptions === undefined ? {} : { assumptions }),
});

/** A request with its route and its fault. */
interface RoutedRequest {
  readonly request: Request;
  readonly signal: AbortSignal;
  readonly match: Match | undefined;
  readonly fault: Fault | undefined;
  readonly lifetime: Lifetime;
}

/** Lets the render fail that a request creates, or that is still pending. With a `renderDuration` of 0 a new render is final at once. */
async function failCreatedRender({ worlds }: Emulation, respond: () => Promise<Response>): Promise<Response> {
  const before = worlds.map(({ renders, now }) => ({ count: renders.size, time: now() }));
  const response = await respond();
  const text = response instanceof WholeResponse ? String(response.whole) : "";
  const created = attempt<unknown>(() => JSON.parse(text));
  const reference = textOf(propertyOf(created, "render"), "reference") ?? "";
  for (const [index, world] of worlds.entries()) {
    const render = world.renders.get(reference);
    if (render === undefined) continue;
    const { count = 0, time = 0 } = before[index] ?? {};
    const isNew = world.renders.size > count && render.created >= time;
    if (isNew || renderStatus(world, render) === "pending") render.failed = true;
  }
  return response;
}

/** Responds to a request, or applies its fault. */
async function respond(
  { emulation, service }: { readonly emulation: Emulation; readonly service: Service },
  { request, signal, match, fault, lifetime }: RoutedRequest,
): Promise<Response> {
  if (fault === undefined) return await service(request);
  if (fault.fault === "failRender") return await failCreatedRender(emulation, async () => await service(request));
  // A fault can delay the request.
  const carryOut: Service = async (delayed) => {
    assertCurrent({ lifetime });
    return await service(delayed);
  };
  const ends = { request: eitherSignal(signal, lifetime.signal), state: lifetime.signal };
  const response = await applyFault(carryOut, request, ends, fault, emulation.clock.wire);
  const caller = callerOf(emulation, request);
  if (caller !== undefined) addRateLimits(response, fault, policiesOf(match), caller.world.rateLimits);
  return response;
}

/** A request of any implementation of `fetch`. */
const isRequest = (input: unknown): input is Request =>
  isObject(input) && "url" in input && "headers" in input && "signal" in input;

/** Without a Date, node:http adds one by the machine's time, which can differ from the emulator's clock. */
function withDate(response: Response, now: number): Response {
  if (!response.headers.has("Date")) response.headers.set("Date", new Date(now).toUTCString());
  return response;
}

/** Makes an emulator, with its inside for the controls and the page. Clients of an emulator on a port send over the network. */
export function createParts(options: EmulatorOptions, onPort = false): EmulatorParts {
  const settings = toSettings(options);
  checkClock(options.clock, onPort);
  const routes = allRoutes;
  const endpoints = routes.map(({ endpoint }) => endpoint);
  checkCalls(settings, endpoints);
  const changed = () => emulation.changed();
  const faults = createFaults(endpoints, changed);
  const log = createRequestLog(settings.requestLog, endpoints, () => emulation.changed("cleared"));
  const emulation = new Emulation(settings, { faults, requests: log.requests }, { carryOut, plant });
  const recorder = new Recorder({ baseUrl: settings.baseUrl, keys: emulation.keys, clock: emulation.clock, log });
  const find = createRouter(routes, settings.baseUrl);
  const service = createService(emulation, find);

  const emulator: Emulator = {
    baseUrl: settings.baseUrl,
    get secretKey() {
      return firstKeyOf(emulation).secretKey;
    },
    clock: emulation.clock,
    get clientOptions() {
      const assumptions = options.assumptions === undefined ? undefined : settings.clientAssumptions;
      const clock = options.clock === "skip" ? settings.clock : options.clock;
      return clientOptionsOf(emulator, { clock, assumptions }, onPort);
    },
    get demo() {
      return emulation.worlds[0].demo;
    },
    requests: log.requests,
    callbacks: methodsOf(callbackControls, emulation),
    faults: { add: faults.add, clear: faults.clear },
    fetch: async (input, init) => {
      // A copy of a Request has the method GET when the original's method is TRACE.
      const request = isRequest(input) && init === undefined ? input : new Request(input, init);
      // The signal of a Request follows the caller's signal only while the Request is in use.
      const signal = init?.signal ?? request.signal;
      throwIfAborted(signal);
      const url = new URL(request.url);
      const match = find(request.method, url);
      const endpoint = match?.route.endpoint;
      const fault = faults.faultFor(endpoint);
      const { lifetime } = emulation;
      const tokens = () => callerOf(emulation, request)?.world.rateLimits.levels();
      const arrived = { request, url, call: endpoint?.call, fault: fault?.fault, tokens };
      return await recorder.record(arrived, service, async (watched) => {
        const response = await respond({ emulation, service: watched }, { request, signal, match, fault, lifetime });
        throwIfAborted(signal);
        return withDate(response, emulation.clock.now());
      });
    },
    ...createControls(emulation),
  };
  return { emulator, emulation, recorder };
}
