import { type StartEmulatorOptions, startEmulator } from "pod-partner/testing";
import { expect } from "vitest";
import { createClock } from "./clock.ts";
import { expectDocumented } from "./openapi.ts";
import { errorObject, expectShape } from "./shapes.ts";

/** A response, read to its end. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared with shapes written by hand from the specification
  readonly body: any;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface Sent {
  readonly json?: unknown;
  readonly bytes?: Uint8Array<ArrayBuffer> | string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The key to send. Null sends none. */
  readonly key?: string | null | undefined;
}

/** The emulator on a port, with a clock that moves by hand, and plain requests to it. */
export async function startService({ start, ...options }: StartEmulatorOptions & { start?: string } = {}) {
  const clock = createClock(start);
  const emulator = await startEmulator({ clock, ...options });

  const request = async (method: string, url: string, { json, bytes, headers, key }: Sent = {}) => {
    const secret = key === undefined ? emulator.secretKey : key;
    const response = await fetch(url, {
      method,
      redirect: "error",
      headers: {
        ...(secret === null ? {} : { "X-Service-Secret-Key": secret }),
        ...(json === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: json === undefined ? (bytes ?? null) : JSON.stringify(json),
    });
    const content = new Uint8Array(await response.arrayBuffer());
    const isJson = response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
    const body = isJson && content.length > 0 ? JSON.parse(new TextDecoder().decode(content)) : undefined;
    // The API has the base URL as its prefix; what is beside it has no description.
    if (url.startsWith(`${emulator.baseUrl}/`)) {
      const path = url.slice(emulator.baseUrl.length);
      const type = response.headers.get("Content-Type") ?? "";
      await expectDocumented(emulator.baseUrl, { method, path, sent: json, status: response.status, type, body });
    }
    return { status: response.status, headers: response.headers, body, bytes: content } satisfies HttpResponse;
  };
  const send = (method: string, path: string, sent?: Sent) => request(method, emulator.baseUrl + path, sent);
  const upload = (path: "/images" | "/evidence", bytes: Uint8Array<ArrayBuffer>) =>
    send("POST", path, { bytes, headers: { "Content-Type": "application/octet-stream" } });

  return {
    clock,
    /** The operator's side: the controls and the references of the demo catalog. */
    emulator,
    demo: emulator.demo,
    send,
    /** GET of a whole URL, for the URLs in responses. */
    getUrl: (url: string, headers?: Readonly<Record<string, string>>) => request("GET", url, { headers }),
    get: (path: string, headers?: Readonly<Record<string, string>>) => send("GET", path, { headers }),
    post: (path: string, json?: unknown) => send("POST", path, { json }),
    put: (path: string, json: unknown) => send("PUT", path, { json }),
    upload,
    [Symbol.asyncDispose]: () => emulator.close(),
  };
}

export type Service = Awaited<ReturnType<typeof startService>>;

/** Checks the status of a refusal, its error object (7 rule 1) and its code, when the specification shows one. */
export function expectRefusal(response: HttpResponse, status: number | "4xx", code?: string): void {
  if (status === "4xx") expect(Math.floor(response.status / 100)).toBe(4);
  else expect(response.status).toBe(status);
  expectShape(response.body, errorObject);
  if (code !== undefined) expect(response.body.code).toBe(code);
}

/** Checks that a creation succeeded. The specification does not show which 2xx status it has (4.12). */
export function expectCreated(response: HttpResponse): void {
  expect([response.body, Math.floor(response.status / 100)]).toEqual([expect.anything(), 2]);
}
