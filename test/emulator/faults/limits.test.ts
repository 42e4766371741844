import type { Fault } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { problem, setUp } from "../support.ts";

/** The rate-limit headers in the response to a request that a fault applies to. */
async function headersUnder(fault: Fault, path = "/orders", key?: string): Promise<readonly (string | null)[]> {
  const { emulator } = setUp();
  emulator.faults.add(fault);
  const headers = { "X-Service-Secret-Key": key ?? emulator.secretKey };
  const response = await emulator.fetch(emulator.baseUrl + path, { headers });
  return [response.headers.get("X-RateLimit-Policy"), response.headers.get("X-RateLimit")];
}

const policy = '"default";q=3000;w=60';
const error = { fault: "status", status: 500, code: "internal" } as const;

describe("a fault's response has the rate-limit headers of the service (specification 8, rule 2)", () => {
  it.each<[string, Fault]>([
    ["an error object, after", error],
    ["an error object, before", { ...error, when: "before" }],
    ["JSON of another shape", { fault: "body", body: { order: 7 } }],
    [
      "invalid JSON with the content type of JSON",
      { fault: "body", body: "{", type: "application/json; charset=utf-8" },
    ],
  ])("for %s, and the request has used one token", async (_, fault) => {
    expect(await headersUnder(fault)).toEqual([policy, '"default";r=2999;t=0']);
  });

  it("for rate_limited, which reports the bucket as empty until Retry-After", async () => {
    const limited = { fault: "status", status: 429, code: "rate_limited", when: "before" } as const;
    expect(await headersUnder({ ...limited, retryAfter: 7_000 })).toEqual([policy, '"default";r=0;t=7']);
    expect(await headersUnder({ ...limited, retryAfter: "soon" })).toEqual([policy, '"default";r=0;t=1']);
  });

  it("for rate_limited of an endpoint with a bucket of its own, which the headers name", async () => {
    const limited = { fault: "status", status: 429, code: "rate_limited", when: "before", retryAfter: 17_000 } as const;
    const [, state] = await headersUnder({ ...limited }, "/renders/Render_00000000000000000000000000/media");
    expect(state).toBe('"default";r=3000;t=0, "downloads";r=0;t=17');
  });

  it.each([
    [17_000, '"default";r=3000;t=0, "uploads";r=0;t=17'],
    [1_000, '"default";r=0;t=1, "uploads";r=5000;t=0'],
  ])(
    "for rate_limited of an upload with a Retry-After of %d ms, which names a bucket that gives a token in that time",
    async (retryAfter, state) => {
      const { emulator } = setUp();
      emulator.faults.add({ fault: "status", status: 429, code: "rate_limited", when: "before", retryAfter });
      const headers = { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/octet-stream" };
      const response = await emulator.fetch(`${emulator.baseUrl}/images`, { method: "POST", headers, body: "image" });
      expect(response.headers.get("X-RateLimit")).toBe(state);
    },
  );

  it.each<[string, Fault]>([
    ["a proxy's status", { fault: "status", status: 502 }],
    ["a page", { fault: "body", body: "<html>", type: "text/html" }],
    ["a redirect", { fault: "redirect", location: "https://elsewhere.test" }],
    ["a 401", { fault: "status", status: 401, code: "unauthorized" }],
  ])("but not for %s", async (_, fault) => {
    expect(await headersUnder(fault)).toEqual([null, null]);
  });

  it("but not when the key is wrong", async () => {
    expect(await headersUnder(error, "/orders", "another")).toEqual([null, null]);
  });

  it("and the real bucket is unchanged after a simulated rate_limited", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ nth: 1, fault: "status", status: 429, code: "rate_limited", when: "before" });
    expect(problem(await bench.get("/orders"))).toEqual({ status: 429, code: "rate_limited" });
    expect((await bench.get("/orders")).headers.get("X-RateLimit")).toBe('"default";r=2999;t=0');
  });
});
