import { onAbort } from "../../util/abort-signals.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { connectionReset, isBrokenConnection } from "../core/broken-connection.ts";
import { retryAfterHeader } from "../core/retry-after.ts";
import { WholeResponse } from "../core/whole-response.ts";
import type {
  BodyFault,
  DropFault,
  Fault,
  GatewayFault,
  RedirectFault,
  SlowFault,
  StatusFault,
} from "../faults/fault.ts";
import { moveBodyRecorder } from "../recorder/request-body.ts";
import { stalled, trickling, truncated } from "./broken-bodies.ts";
import type { Service } from "./service.ts";

/** A fault that replaces the response. It can apply before the service carries the request out. */
type ReplacingFault = DropFault | StatusFault | RedirectFault | BodyFault;

/** What ends a request early. */
export interface Ends {
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
  const raw =
    body instanceof Uint8Array ? new Uint8Array(body) : typeof body === "string" ? body : JSON.stringify(body);
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
    // The state was replaced meanwhile.
    if (!isBrokenConnection(error)) throw error;
  });
  await sleep(clock, ms, ends.request);
  if (status === "drop") throw connectionReset();
  return statusResponse({ fault: "status", status });
}

/** Responds to a request with a fault. */
export async function applyFault(service: Service, request: Request, ends: Ends, fault: Fault, clock: PartnerClock) {
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
