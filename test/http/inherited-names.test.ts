import { createEmulator, createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { WaitQueues } from "../../src/http/pacing/queue.ts";
import { rejection } from "../support/exchange.ts";
import { partnerWith } from "../support/partner.ts";
import { settle } from "../support/settle.ts";

/** Names of properties that every ordinary object inherits. */
const inherited = ["constructor", "__proto__", "toString", "valueOf", "hasOwnProperty"];

type Respond = (request: Request) => Response;

function connect(respond: Respond, options: { readonly assumptions?: { customIdentifierParameter: string } } = {}) {
  const clock = createManualClock();
  const fetch = async (request: Request) => respond(request);
  const partner = partnerWith({ fetch, clock, ...options });
  return { clock, partner };
}

describe.each(inherited)("a policy named %s", (name) => {
  const headers = {
    "x-ratelimit-policy": `"default";q=3000;w=60, "${name}";q=50;w=10`,
    "x-ratelimit": `"default";r=2999;t=0, "${name}";r=49;t=0`,
  };

  it("is paced like any other, and appears in the rate limits", async () => {
    const { clock, partner } = connect(() => Response.json({ message: "ok" }, { headers }));
    for (let call = 0; call < 3; call++) await settle(clock, partner.auth.validate());
    const { rateLimits } = partner;
    expect(Object.keys(rateLimits.policies)).toEqual(["default", "uploads", "downloads", name]);
    expect(rateLimits.policies[name]).toMatchObject({ quota: 50, window: 10_000, waiting: 0 });
    expect(rateLimits.policies[name]?.remaining).toBeGreaterThan(40);
    expect(rateLimits.estimate(100, name)).toBeGreaterThan(0);
    const copy = JSON.parse(JSON.stringify(rateLimits));
    expect(Object.getOwnPropertyDescriptor(copy.policies, name)?.value).toMatchObject({ quota: 50 });
  });

  it("is paced when its header has no quota", async () => {
    const { clock, partner } = connect(() =>
      Response.json({ message: "ok" }, { headers: { "x-ratelimit": `"default";r=2999;t=0, "${name}";r=49;t=0` } }),
    );
    for (let call = 0; call < 3; call++) await settle(clock, partner.auth.validate());
    expect(partner.rateLimits.policies[name]).toMatchObject({ quota: 3_000, window: 60_000 });
    expect(Number.isFinite(partner.rateLimits.policies[name]?.remaining)).toBe(true);
  });

  it("replaces `default` like any other new name", async () => {
    const { clock, partner } = connect(() =>
      Response.json(
        { message: "ok" },
        { headers: { "x-ratelimit-policy": `"${name}";q=600;w=30`, "x-ratelimit": `"${name}";r=17;t=0` } },
      ),
    );
    for (let call = 0; call < 3; call++) await settle(clock, partner.auth.validate());
    expect(partner.rateLimits.policies.default).toMatchObject({ quota: 600, window: 30_000 });
  });

  it("is not in the rate limits before a response names it", () => {
    const { rateLimits } = connect(() => new Response()).partner;
    expect(rateLimits.policies[name]).toBeUndefined();
    expect(name in rateLimits.policies).toBe(false);
  });
});

describe("a policy named estimate", () => {
  it("appears beside the function `estimate`", async () => {
    const headers = { "x-ratelimit-policy": '"estimate";q=50;w=10, "default";q=50;w=10' };
    const { clock, partner } = connect(() => Response.json({ message: "ok" }, { headers }));
    await settle(clock, partner.auth.validate());
    expect(partner.rateLimits.estimate(1)).toBe(0);
    expect(partner.rateLimits.policies.estimate).toMatchObject({ quota: 50 });
  });
});

it.each(["default,uploads", "defaultuploads"])("a policy named %s does not share a queue with two others", (name) => {
  const queues = new WaitQueues();
  expect(queues.of([name])).not.toBe(queues.of(["default", "uploads"]));
});

describe.each(inherited)("an error code named %s", (code) => {
  it("has no hint, and is not retried", async () => {
    const { partner } = connect(() => Response.json({ code, message: "no" }, { status: 400 }));
    const error = await rejection(partner.auth.validate());
    expect(error).toMatchObject({ name: "BadRequestError", code, hint: undefined });
  });
});

describe.each(inherited)("a header named %s", (name) => {
  it("is shown in an error", async () => {
    const { partner } = connect(() =>
      Response.json({ code: "no", message: "no" }, { status: 400, headers: [[name, "received"]] }),
    );
    const error = await rejection(partner.auth.validate());
    const { headers } = (error as { response: { headers: object } }).response;
    expect(Object.getOwnPropertyDescriptor(headers, name.toLowerCase())?.value).toBe("received");
  });
});

describe.each(inherited)("a query parameter named %s", (name) => {
  it("is sent", async () => {
    let sent: string | null = null;
    const reference = `Order_${"0".repeat(26)}`;
    const respond: Respond = ({ url }) => {
      sent = new URL(url).searchParams.get(name);
      return Response.json({ orderReference: reference });
    };
    const { partner } = connect(respond, { assumptions: { customIdentifierParameter: name } });
    expect(await partner.orders.lookup({ customIdentifier: "order-1" })).toBe(reference);
    expect(sent).toBe("order-1");
  });
});

describe.each(inherited)("the emulator, when it receives the name %s", (name) => {
  const emulator = createEmulator();
  const ask = (path: string, init?: RequestInit) =>
    emulator.fetch(`${emulator.baseUrl}${path}`, {
      ...init,
      headers: { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/json" },
    });

  it("responds with 4xx when it is a path, a query parameter, a field or an identifier", async () => {
    expect((await ask(`/${name}`)).status).toBe(404);
    expect((await ask(`/orders/${name}`)).status).toBe(400);
    expect((await ask(`/orders?${name}=1`)).status).toBe(400);
    expect((await ask("/orders", { method: "POST", body: `{"order":{},"${name}":{}}` })).status).toBe(400);
    expect((await ask("/orders", { method: "POST", body: `{"order":{"${name}":1}}` })).status).toBe(400);
    const lookup = "/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=";
    expect((await ask(lookup + name)).status).toBe(404);
    expect((await ask(`/orders?cursor=${name}`)).status).toBe(400);
  });

  it("has no policy, fault or endpoint with that name", () => {
    expect(() => emulator.drain(name as never)).toThrow('policy: expected "default", "uploads" or "downloads"');
    expect(() => emulator.faults.add({ fault: name as never })).toThrow(TypeError);
    expect(() => emulator.faults.add({ on: name, fault: "drop" })).toThrow(TypeError);
    expect(() => createEmulator({ limits: JSON.parse(`{"${name}":{"quota":1,"window":1000}}`) })).toThrow("limits");
  });
});
