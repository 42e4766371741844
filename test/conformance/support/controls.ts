import { expect } from "vitest";
import type { Service } from "./service.ts";

/** The root of the controls: beside `/v2`. */
export const controlsOf = (service: Service, world = ""): string =>
  `${new URL(service.emulator.baseUrl).origin}${world}/_emulator`;

/** Sends the input of a control, and returns the status and the body. */
export async function tryControl(service: Service, name: string, input: unknown = {}) {
  const response = await fetch(`${controlsOf(service)}/${name}`, {
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

/** The time of the service in milliseconds, by the header `Date` of a response. */
export async function timeOf(service: Service): Promise<number> {
  return Date.parse((await service.get("/stores")).headers.get("Date") ?? "");
}
