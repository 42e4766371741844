import * as z from "zod/mini";
import { type Gap, readGaps } from "../../schemas/gaps.ts";
import { ControlError } from "../base/control-error.ts";
import { controlRoot, refusal, uncachedJson } from "../base/messages.ts";
import { Problem } from "../base/problem.ts";
import type { Control } from "../controls/control.ts";
import { allControls } from "../controls/table.ts";
import { readJson } from "../http/input.ts";
import type { Switches } from "../http/route.ts";
import type { RequestFilter, RequestLog } from "../recorder/logged-request.ts";
import { summaryOf } from "../recorder/recording.ts";
import { allRoutes } from "../routes/table.ts";
import type { Emulation } from "../state/emulation.ts";
import { quickstart } from "./quickstart.ts";

/** What the emulator does for every endpoint, and what changes it. The routes say what is special about each. */
export const everyEndpoint = {
  models: "keys and permissions, rate limits, 501, isolated organizations, strict requests, faults on the way",
  options: ["keys", "organizations", "limits", "unavailable", "environment", "shapes", "clock"],
  controls: ["updateKey", "drain", "faults.add", "faults.remove", "faults.clear"],
} as const satisfies Switches & { readonly models: string };

/** The size of the largest input, in bytes: a saved world of some 100,000 orders. */
const largestInput = 512 * 2 ** 20;

/** A control with the JSON schema of its input. What JSON Schema cannot say is any value. */
export const describeControl = (name: string, { about, on, required, schema }: Control) => ({
  name,
  about,
  on,
  method: "POST",
  path: `${controlRoot}/${name}`,
  required,
  input: z.toJSONSchema(schema(), { unrepresentable: "any", io: "input" }),
});

/** The list of the controls, for programs. */
const listOfControls = () => ({
  controls: Array.from(allControls, ([name, control]) => describeControl(name, control)),
});

async function runControl(emulation: Emulation, control: Control, request: Request): Promise<Response> {
  try {
    const input = request.body === null ? {} : await readJson(request, largestInput);
    return uncachedJson({ result: (await control.run(emulation, input)) ?? null });
  } catch (error) {
    if (error instanceof ControlError) return refusal(400, error.code, error.message);
    // The clock and the faults throw these for invalid input.
    const isInvalid = error instanceof Problem || error instanceof RangeError || error instanceof TypeError;
    if (isInvalid) return refusal(400, "invalid_input", error.message);
    throw error;
  }
}

/** Responds to a request to the controls. Returns undefined for a path that is not under `/_emulator`. */
export async function respondToControl(emulation: Emulation, request: Request): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (pathname === controlRoot && request.method === "GET") return uncachedJson(listOfControls());
  if (pathname === `${controlRoot}/quickstart` && request.method === "GET") {
    return new Response(quickstart(emulation), {
      headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
    });
  }
  if (!pathname.startsWith(`${controlRoot}/`)) return undefined;
  const name = pathname.slice(controlRoot.length + 1);
  const control = allControls.get(name);
  if (control === undefined) {
    return refusal(404, "not_found", `The emulator has no control ${name}. GET ${controlRoot} lists the controls.`);
  }
  if (request.method !== "POST") {
    return refusal(405, "method_not_allowed", `Use POST for the control ${name}`, { Allow: "POST" });
  }
  return await runControl(emulation, control, request);
}

const root = `${controlRoot}/requests`;

const refused = (message: string): Response => refusal(400, "invalid_input", message);

/** The summaries of the requests that match, newest first. `before` is the last id of the previous page. */
function list(requests: RequestLog, query: URLSearchParams): Response {
  const { limit = "100", before = "Infinity", status, ...filter } = Object.fromEntries(query);
  if (!(Number.isInteger(Number(limit)) && Number(limit) >= 1)) return refused("limit: must be a whole number from 1");
  if (Number.isNaN(Number(before))) return refused("before: must be the id of a request");
  try {
    // The log checks the filter.
    const exact = status === undefined ? filter : { ...filter, status: Number(status) };
    const matching = requests.where(exact as RequestFilter).filter(({ id }) => id < Number(before));
    return uncachedJson({ requests: matching.slice(-Number(limit)).reverse().map(summaryOf) });
  } catch (error) {
    if (error instanceof TypeError) return refused(error.message);
    throw error;
  }
}

/**
 * Responds to a GET of the log over HTTP. Returns undefined for another path.
 *
 * - `/_emulator/requests?on=&method=&path=&status=&fault=&outcome=&limit=&before=`: summaries, newest first, 100 by default
 * - `/_emulator/requests/{id}`: one request in full
 * - `/_emulator/requests.har`: the log as HAR 1.2
 */
export function respondWithRequests(requests: RequestLog, { pathname, searchParams }: URL): Response | undefined {
  if (pathname === root) return list(requests, searchParams);
  if (pathname === `${root}.har`) return uncachedJson(requests.toHar());
  if (!pathname.startsWith(`${root}/`)) return undefined;
  const id = pathname.slice(root.length + 1);
  const entry = requests.get(Number(id));
  if (entry === undefined) return refusal(404, "not_found", `The log has no request ${id}`);
  return uncachedJson(entry);
}

/** What changes a behaviour, with both lists. */
const complete = ({ options = [], controls = [] }: Pick<Gap, "options" | "controls">) => ({ options, controls });

/** What the emulator models of each endpoint, what it assumes where the specification shows nothing, and what changes each. */
const coverage = () => ({
  everyEndpoint: { models: everyEndpoint.models, switch: complete(everyEndpoint) },
  endpoints: allRoutes.map(({ endpoint: { call, method, path }, models, ...switches }) => ({
    call,
    method,
    path,
    models,
    switch: complete(switches),
  })),
  notShown: readGaps()
    .filter(({ emulator }) => emulator !== undefined)
    .map(({ number, section, notShown, emulator, ...switches }) => ({
      number,
      section,
      notShown,
      emulator,
      switch: complete(switches),
    })),
});

/** Responds to a GET of `/_emulator/coverage` or `/_emulator/gaps`. Returns undefined for another path. */
export function respondWithCoverage({ pathname }: URL): Response | undefined {
  if (pathname === `${controlRoot}/gaps`) return uncachedJson({ gaps: readGaps() });
  return pathname === `${controlRoot}/coverage` ? uncachedJson(coverage()) : undefined;
}
