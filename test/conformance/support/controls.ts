import { expect } from "vitest";
import type { Service } from "./service.ts";

/** Sends the input of a control, and returns the status and the body. */
export async function tryControl(service: Service, name: string, input: unknown = {}) {
  const response = await fetch(new URL(`/_emulator/${name}`, service.emulator.baseUrl), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(input),
  });
  return { status: response.status, body: (await response.json()) as { result?: unknown; code?: string } };
}

/** Carries out a control, and returns its result. */
// biome-ignore lint/suspicious/noExplicitAny: results are compared with values written by hand
export async function runControl(service: Service, name: string, input?: unknown): Promise<any> {
  const { status, body } = await tryControl(service, name, input);
  expect([status, body]).toEqual([200, { result: body.result }]);
  return body.result;
}
