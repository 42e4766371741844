import type { Fault } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { problem, setUp } from "./support.ts";

/** The rate-limit headers of the answer to a request that a fault strikes. */
async function headersUnder(fault: Fault, path = "/orders", key?: string): Promise<readonly (string | null)[]> {
  const { emulator } = setUp();
  emulator.faults.add(fault);
  const headers = { "X-Service-Secret-Key": key ?? emulator.secretKey };
  const response = await emulator.fetch(emulator.baseUrl + path, { headers });
  return [response.headers.get("X-RateLimit-Policy"), response.headers.get("X-RateLimit")];
}

const policy = '"default";q=3000;w=60';
const error = { fault: "status", status: 500, code: "internal" } as const;

describe("a fault's answer carries rate-limit headers as the service's own do (specification 8, rule 2)", () => {
  it.each<[string, Fault]>([
    ["an error object, after", error],
    ["an error object, before", { ...error, when: "before" }],
    ["JSON of another shape", { fault: "body", body: { order: 7 } }],
    ["garbage that says it is JSON", { fault: "body", body: "{", type: "application/json; charset=utf-8" }],
  ])("in %s, and the request has drawn one token", async (_, fault) => {
    expect(await headersUnder(fault)).toEqual([policy, '"default";r=2999;t=0']);
  });

  it("in a rate_limited, which tells the bucket as empty until Retry-After", async () => {
    const limited = { fault: "status", status: 429, code: "rate_limited", when: "before" } as const;
    expect(await headersUnder({ ...limited, retryAfter: 7_000 })).toEqual([policy, '"default";r=0;t=7']);
    expect(await headersUnder({ ...limited, retryAfter: "soon" })).toEqual([policy, '"default";r=0;t=1']);
  });

  it("in a rate_limited of an endpoint with a bucket of its own, which names that one", async () => {
    const limited = { fault: "status", status: 429, code: "rate_limited", when: "before", retryAfter: 17_000 } as const;
    const [, state] = await headersUnder({ ...limited }, "/renders/Render_00000000000000000000000000/media");
    expect(state).toBe('"default";r=3000;t=0, "downloads";r=0;t=17');
  });

  it.each<[string, Fault]>([
    ["a proxy's status", { fault: "status", status: 502 }],
    ["a page", { fault: "body", body: "<html>", type: "text/html" }],
    ["a redirect", { fault: "redirect", location: "https://elsewhere.test" }],
    ["a 401", { fault: "status", status: 401, code: "unauthorized" }],
  ])("but not in %s", async (_, fault) => {
    expect(await headersUnder(fault)).toEqual([null, null]);
  });

  it("but not where the key is wrong", async () => {
    expect(await headersUnder(error, "/orders", "another")).toEqual([null, null]);
  });

  it("and the bucket itself is as it was after a rate_limited that was played", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ nth: 1, fault: "status", status: 429, code: "rate_limited", when: "before" });
    expect(problem(await bench.get("/orders"))).toEqual({ status: 429, code: "rate_limited" });
    expect((await bench.get("/orders")).headers.get("X-RateLimit")).toBe('"default";r=2999;t=0');
  });
});
