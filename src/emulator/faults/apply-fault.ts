import { setImmediate } from "node:timers/promises";
import type { Endpoint } from "../../http/endpoint.ts";
import { onAbort } from "../../util/abort-signals.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { bytesIn } from "../../util/kinds.ts";
import {
  bodyTerminated,
  connectionReset,
  isBrokenConnection,
  moveBodyRecorder,
  retryAfterHeader,
  type Service,
  WholeResponse,
} from "../base/messages.ts";
import type { RateLimiter } from "../base/rate-limit.ts";
import type {
  BodyFault,
  DropFault,
  FailRenderFault,
  Fault,
  GatewayFault,
  RedirectFault,
  SlowFault,
  StatusFault,
} from "./fault.ts";

type BodyWriter = Pick<ReadableStreamDefaultController<Uint8Array>, "enqueue" | "close">;

/** Writes a body in pieces. Returns a function that stops writing. */
type WriteBody = (controller: BodyWriter, bytes: Uint8Array) => () => void;

/** Makes a response with the same body, written by `write`. The abort of the signal ends the body at once. */
async function rewritten(response: Response, signal: AbortSignal, write: WriteBody): Promise<Response> {
  if (response.body === null) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  let stop = () => {};
  let stopListening = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const close = () => {
        stopListening();
        controller.close();
      };
      stop = write({ enqueue: (piece) => controller.enqueue(piece), close }, bytes);
      stopListening = onAbort(signal, (reason) => {
        stop();
        controller.error(isBrokenConnection(reason) ? bodyTerminated() : reason);
      });
    },
    cancel: () => {
      stopListening();
      stop();
    },
  });
  return new Response(body, response);
}

const firstHalf = (bytes: Uint8Array) => bytes.subarray(0, Math.floor(bytes.length / 2));

/** Sends half of the body and leaves the connection open. */
const stalled = (response: Response, signal: AbortSignal): Promise<Response> =>
  rewritten(response, signal, (controller, bytes) => {
    controller.enqueue(firstHalf(bytes));
    return () => {};
  });

/** Sends the body byte by byte, with `ms` milliseconds between two bytes. */
const trickling = (response: Response, signal: AbortSignal, clock: PartnerClock, ms: number): Promise<Response> =>
  rewritten(response, signal, (controller, bytes) => {
    let position = 0;
    let cancel = () => {};
    const next = () => {
      if (position === bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(position, position + 1));
      position += 1;
      cancel = clock.after(ms, next);
    };
    next();
    return () => cancel();
  });

/** Sends half of the body and breaks the connection. */
async function truncated(response: Response): Promise<Response> {
  if (response.body === null) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const pieces = [firstHalf(bytes)];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = pieces.shift();
        if (piece !== undefined) return controller.enqueue(piece);
        // Over a port, the first half must be sent before the socket is destroyed.
        await setImmediate();
        controller.error(bodyTerminated());
      },
    },
    // Do not read ahead: an error discards the pieces in the queue, so the first half would be lost.
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}

const isJson = (type: string): boolean => type.split(";")[0]?.trim().toLowerCase() === "application/json";

/**
 * Whether a fault's response looks like the service's own: an error object, or JSON. A status without a code, a page or a redirect
 * looks like a proxy's. A 401 has no rate-limit headers, because its request is not authenticated.
 */
function isOfService(fault: Fault): boolean {
  if (fault.fault === "status") return fault.code !== undefined && fault.status !== 401;
  return fault.fault === "body" && isJson(fault.type ?? "application/json");
}

const isRateLimited = (fault: Fault): fault is StatusFault =>
  fault.fault === "status" && fault.status === 429 && fault.code === "rate_limited";

/** Milliseconds until the bucket that the fault reports as empty has a token. */
const nextTokenIn = ({ retryAfter }: StatusFault): number => (typeof retryAfter === "number" ? retryAfter : 1000);

/**
 * Adds the rate-limit headers that every authenticated response of the service carries (specification 8, rule 2). A `rate_limited`
 * reports a bucket as empty that gives a token in that time: `uploads` or `downloads` where the endpoint draws from it, otherwise `default`.
 */
export function addRateLimits(
  response: Response,
  fault: Fault,
  policies: Endpoint["policies"],
  limiter: RateLimiter,
): void {
  if (!isOfService(fault)) return;
  const limited = isRateLimited(fault);
  // A request that the service sees draws its tokens. A request that is refused as `rate_limited` draws none.
  if ("when" in fault && fault.when === "before" && !limited) limiter.take(policies);
  const empty = limited ? limiter.emptyFor(policies, nextTokenIn(fault)) : undefined;
  for (const [name, value] of Object.entries(limiter.headers(policies, empty))) response.headers.set(name, value);
}

/** A fault that replaces the response. It can apply before the service carries the request out. */
type ReplacingFault = DropFault | StatusFault | RedirectFault | BodyFault;

/** What ends a request early. */
interface Ends {
  /** Aborts when the client disconnects, or when `state` aborts. */
  readonly request: AbortSignal;
  /** Aborts when the state that the request arrived in is replaced, or its world is removed. */
  readonly state: AbortSignal;
}

/** Waits by the clock. Rejects with the signal's reason as soon as the signal is aborted. */
function sleep(clock: PartnerClock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopListening = () => {};
    const cancel = clock.after(ms, () => {
      stopListening();
      resolve();
    });
    stopListening = onAbort(signal, (reason) => {
      cancel();
      reject(reason);
    });
  });
}

function statusResponse({ status, code, retryAfter }: StatusFault): Response {
  const headers = new Headers(retryAfterHeader(retryAfter));
  if (code === undefined) return new WholeResponse(`A proxy responds with ${status}`, { status, headers });
  headers.set("Content-Type", "application/json");
  return new WholeResponse(JSON.stringify({ code, message: `A fault of the emulator responds with ${code}` }), {
    status,
    headers,
  });
}

function bodyResponse({ body, status = 200, type = "application/json" }: BodyFault): Response {
  const bytes = bytesIn(body);
  // A copy: a view of another realm may not be known to `Response`, and shared memory never is.
  const raw = bytes !== undefined ? Uint8Array.from(bytes) : typeof body === "string" ? body : JSON.stringify(body);
  const init = { status, headers: { "Content-Type": type } };
  return raw === "" ? new Response(null, init) : new WholeResponse(raw, init);
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

/** Reads a request in full. A copy with a body has no signal, so the service carries it out even if the client has aborted. */
async function detached(request: Request): Promise<Request> {
  if (request.body === null) return request;
  const { url, method, headers } = request;
  const copy = new Request(url, { method, headers, body: await request.arrayBuffer() });
  moveBodyRecorder(request, copy);
  return copy;
}

/** Carries the request out, unless the fault is to apply before that, and responds with the fault's response. */
async function replaced(
  service: Service,
  request: Request,
  { when }: ReplacingFault,
  respond: () => Response,
): Promise<Response> {
  if (when !== "before") await (await service(request)).body?.cancel();
  return respond();
}

async function delayed(service: Service, request: Request, { when, ms }: SlowFault, clock: PartnerClock, ends: Ends) {
  if (when !== "before") {
    const response = await service(request);
    await sleep(clock, ms, ends.request);
    return response;
  }
  const arrived = await detached(request);
  await sleep(clock, ms, ends.state);
  return await service(arrived);
}

/** Carries the request out after `processing` milliseconds. Responds after `ms`, as the gateway does. */
async function behindGateway(service: Service, request: Request, fault: GatewayFault, clock: PartnerClock, ends: Ends) {
  const { ms, processing, status = 504 } = fault;
  const arrived = await detached(request);
  const carryOut = async () => {
    await sleep(clock, processing, ends.state);
    await (await service(arrived)).body?.cancel();
  };
  carryOut().catch((error: unknown) => {
    // The state was replaced in between.
    if (!isBrokenConnection(error)) throw error;
  });
  await sleep(clock, ms, ends.request);
  if (status === "drop") throw connectionReset();
  return statusResponse({ fault: "status", status });
}

/** Responds to a request with a fault. */
export async function applyFault(
  service: Service,
  request: Request,
  ends: Ends,
  fault: Exclude<Fault, FailRenderFault>,
  clock: PartnerClock,
) {
  switch (fault.fault) {
    case "drop":
      return await replaced(service, request, fault, () => {
        throw connectionReset();
      });
    case "status":
      return await replaced(service, request, fault, () => statusResponse(fault));
    case "redirect": {
      const { status = 302, location } = fault;
      return await replaced(service, request, fault, () => new Response(null, { status, headers: { location } }));
    }
    case "body":
      return await replaced(service, request, fault, () => bodyResponse(fault));
    case "headers":
      return withHeaders(await service(request), fault.headers);
    case "slow":
      return await delayed(service, request, fault, clock, ends);
    case "gateway":
      return await behindGateway(service, request, fault, clock, ends);
    case "stall":
      return await stalled(await service(request), ends.request);
    case "trickle":
      return await trickling(await service(request), ends.request, clock, fault.ms);
    case "truncate":
      return await truncated(await service(request));
  }
}
