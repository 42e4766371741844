import { inWorld } from "./path.ts";

/** The controls of the emulator over HTTP. */

/** A control refused its input. The message is for the reader of the page. */
class Refused extends Error {}

const messageOf = (body: unknown, status: number): string =>
  typeof body === "object" && body !== null && "message" in body
    ? String(body.message)
    : `The emulator responded with ${status}`;

/** Reads JSON of the emulator. Throws an error with the emulator's own message. */
export async function read<Result>(path: string, init?: RequestInit): Promise<Result> {
  const response = await fetch(inWorld(path), { headers: { Accept: "application/json" }, ...init });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw new Refused(messageOf(body, response.status));
  return body as Result;
}

/** Runs a control and returns its result. */
export async function run<Result>(control: string, input: object = {}): Promise<Result> {
  const { result } = await read<{ readonly result: Result }>(`/_emulator/${control}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(input),
  });
  return result;
}
