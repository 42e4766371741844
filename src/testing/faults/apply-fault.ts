import type { PartnerClock } from "../../util/clock.ts";
import { retryAfterHeader } from "../http/retry-after.ts";
import type { Service } from "../http/service.ts";
import { stalled, trickling, truncated } from "./broken-bodies.ts";
import { connectionReset } from "./broken-connection.ts";
import type { BodyFault, DropFault, Fault, GatewayFault, RedirectFault, SlowFault, StatusFault } from "./fault.ts";

/** A fault that takes the answer's place, and so may come before the request is carried out. */
type Replacing = DropFault | StatusFault | RedirectFault | BodyFault;

/** Ends at once, with the signal's reason, when it is aborted. */
function sleep(clock: PartnerClock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", end);
      resolve();
    });
    signal?.addEventListener("abort", end, { once: true });
  });
}

function statusAnswer({ status, code, retryAfter }: StatusFault): Response {
  const headers = new Headers(retryAfterHeader(retryAfter));
  if (code === undefined) return new Response(`A proxy answers ${status}`, { status, headers });
  headers.set("Content-Type", "application/json");
  return new Response(JSON.stringify({ code, message: `A fault was asked for: ${code}` }), { status, headers });
}

function bodyAnswer({ body, status = 200, type = "application/json" }: BodyFault): Response {
  const raw =
    body instanceof Uint8Array ? new Uint8Array(body) : typeof body === "string" ? body : JSON.stringify(body);
  return new Response(raw === "" ? null : raw, { status, headers: { "Content-Type": type } });
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const all = new Headers(response.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return new Response(response.body, { status: response.status, headers: all });
}

/** A copy of a request that has arrived in full: it is carried out whether or not its sender still waits. */
async function detached(request: Request): Promise<Request> {
  const { url, method, headers } = request;
  const body = request.body === null ? null : await request.arrayBuffer();
  return new Request(url, { method, headers, body });
}

/** Has the request carried out unless the fault comes before that, and gives the fault's own answer. */
async function instead(
  frame: Service,
  request: Request,
  { when }: Replacing,
  answer: () => Response,
): Promise<Response> {
  if (when !== "before") await (await frame(request)).body?.cancel();
  return answer();
}

async function slowly(
  frame: Service,
  request: Request,
  { when, ms }: SlowFault,
  clock: PartnerClock,
  signal: AbortSignal,
) {
  if (when !== "before") {
    const response = await frame(request);
    await sleep(clock, ms, signal);
    return response;
  }
  const arrived = await detached(request);
  await sleep(clock, ms);
  return await frame(arrived);
}

/** Has the request carried out later, and gives what the gateway gives instead. */
async function beyondGateway(
  frame: Service,
  request: Request,
  fault: GatewayFault,
  clock: PartnerClock,
  signal: AbortSignal,
) {
  const { ms, processing, status = 504 } = fault;
  const arrived = await detached(request);
  const carryOut = async () => {
    await sleep(clock, processing);
    await (await frame(arrived)).body?.cancel();
  };
  void carryOut();
  await sleep(clock, ms, signal);
  if (status === "drop") throw connectionReset();
  return statusAnswer({ fault: "status", status });
}

/** Answers a request as the fault has it. */
export async function applyFault(
  frame: Service,
  request: Request,
  signal: AbortSignal,
  fault: Fault,
  clock: PartnerClock,
) {
  switch (fault.fault) {
    case "drop":
      return await instead(frame, request, fault, () => {
        throw connectionReset();
      });
    case "status":
      return await instead(frame, request, fault, () => statusAnswer(fault));
    case "redirect": {
      const { status = 302, location } = fault;
      return await instead(frame, request, fault, () => new Response(null, { status, headers: { location } }));
    }
    case "body":
      return await instead(frame, request, fault, () => bodyAnswer(fault));
    case "headers":
      return withHeaders(await frame(request), fault.headers);
    case "slow":
      return await slowly(frame, request, fault, clock, signal);
    case "gateway":
      return await beyondGateway(frame, request, fault, clock, signal);
    case "stall":
      return await stalled(await frame(request), signal);
    case "trickle":
      return await trickling(await frame(request), signal, clock, fault.ms);
    case "truncate":
      return await truncated(await frame(request));
  }
}
