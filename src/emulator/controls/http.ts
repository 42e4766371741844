import { ControlError } from "../core/control-error.ts";
import { controlRoot, refusal, uncachedJson } from "../core/control-plane.ts";
import { Problem } from "../core/problem.ts";
import type { Emulation } from "../emulation/emulation.ts";
import { readJson } from "../http/body.ts";
import type { Control } from "./control.ts";
import { jsonSchema } from "./json-schema.ts";
import { quickstart } from "./quickstart.ts";
import { allControls } from "./table.ts";

/** The size of the largest input, in bytes: a saved world of some 100,000 orders. */
const largestInput = 512 * 2 ** 20;

const describe = (name: string, { about, on, required, schema }: Control) => ({
  name,
  about,
  on,
  method: "POST",
  path: `${controlRoot}/${name}`,
  required,
  input: jsonSchema(schema()),
});

/** The list of the controls, for programs. */
const listOfControls = () => ({ controls: Array.from(allControls, ([name, control]) => describe(name, control)) });

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
