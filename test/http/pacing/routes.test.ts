import { RateLimitError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { rejection } from "../../support/exchange.ts";
import { consume } from "../../support/pacing/consumer.ts";
import { createService, type Served } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { partnerWith } from "../../support/partner.ts";
import { settle } from "../../support/settle.ts";

const latency = () => [5, 5] as const;

/** The headers of a response that names more policies than the request has drawn from. */
function alsoNaming({ headers, ...rest }: Served, policy: string, level: string): Served {
  const more = new Headers(headers);
  more.append("x-ratelimit-policy", policy);
  more.append("x-ratelimit", level);
  return { headers: more, ...rest };
}

describe("the policies of a route", () => {
  it("do not hold up other routes when a slow policy belongs to one route only", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [3_000, 60_000], orders: [5, 10_000] });
    const pacer = new Pacer(clock);
    const common = { clock, pacer, latency };
    const orders = consume({
      ...common,
      call: "orders.create",
      serve: () => service.serve(["orders"]),
      calls: 10,
      parallel: 1,
    });
    const reads = consume({
      ...common,
      call: "orders.get",
      serve: () => service.serve(["default"]),
      calls: 500,
      parallel: 5,
    });
    await clock.run(5_000);
    expect([reads.served.length, reads.refusals]).toEqual([500, 0]);
    await clock.run(60_000);
    expect([orders.served.length, orders.refusals]).toEqual([10, 0]);
    expect(pacer.rateLimits().policies).toMatchObject({ default: { quota: 3_000 }, orders: { quota: 5 } });
  });

  it("do not include policies that every response names but its requests do not draw from", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [3_000, 60_000] });
    const serve = () => alsoNaming(service.serve(["default"]), '"orders";q=5;w=10', '"orders";r=5;t=0');
    const reads = consume({ clock, pacer: new Pacer(clock), latency, serve, calls: 500, parallel: 5 });
    await clock.run(10_000);
    expect(reads.served).toHaveLength(500);
  });

  it.each([
    ["the uploads of the day", { uploads: [5_000, 86_400_000] }, "images.upload", ["default", "uploads"]],
    [
      "a policy of its own",
      { uploads: [5_000, 86_400_000], orders: [5, 60_000] },
      "orders.create",
      ["default", "orders"],
    ],
  ] as const)(
    "do not include %s that another route has used up, although every response names all policies",
    async (...[, more, call, drawn]) => {
      const clock = createTimeline();
      const service = createService(clock, { default: [3_000, 60_000], ...more });
      /** A response that names all policies, with their levels. */
      const serve = (policies: readonly string[]) => {
        let served = service.serve(policies);
        for (const [policy, [quota, window]] of Object.entries(more)) {
          if (policies.includes(policy)) continue;
          const level = Math.floor(service.level(policy));
          served = alsoNaming(
            served,
            `"${policy}";q=${quota};w=${window / 1_000}`,
            `"${policy}";r=${level};t=${level < 1 ? 10 : 0}`,
          );
        }
        return served;
      };
      const common = { clock, pacer: new Pacer(clock), latency };
      for (const policy of drawn.slice(1)) service.drain(policy, 5_000);
      consume({ ...common, call, serve: () => serve(drawn), calls: 3, parallel: 3 });
      const reads = consume({ ...common, serve: () => serve(["default"]), calls: 500, parallel: 5 });
      await clock.run(5_000);
      expect([reads.served.length, reads.refusals]).toEqual([500, 0]);
    },
  );

  it("include the policy that a refusal names as empty, even if it belongs to another route", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [3_000, 60_000], uploads: [5_000, 86_400_000] });
    service.drain("uploads", 5_000);
    const pacer = new Pacer(clock);
    const common = { clock, pacer, latency };
    const quotes = consume({
      ...common,
      call: "orders.quote",
      serve: () => service.serve(["default", "uploads"]),
      calls: 3,
      parallel: 3,
    });
    const reads = consume({ ...common, serve: () => service.serve(["default"]), calls: 100, parallel: 5 });
    await clock.run(5_000);
    expect(reads.served).toHaveLength(100);
    await clock.run(120_000);
    expect(quotes.served).toHaveLength(3);
    expect(quotes.refusals).toBeLessThanOrEqual(3);
  });

  it("of one path given to `request` do not apply to another path", async () => {
    const clock = createManualClock();
    const fetch = async (request: Request) => {
      const bulk = request.url.endsWith("/bulk");
      const policies = `"default";q=3000;w=60${bulk ? ', "bulk";q=5;w=1000' : ""}`;
      const levels = `"default";r=2999;t=0${bulk ? ', "bulk";r=0;t=200' : ""}`;
      return Response.json({}, { headers: { "x-ratelimit-policy": policies, "x-ratelimit": levels } });
    };
    const partner = partnerWith({ fetch, clock });
    await partner.request("POST", "/bulk");
    for (let number = 0; number < 10; number++) await partner.request("GET", `/things/${number}`);
    expect(partner.rateLimits.policies.bulk).toMatchObject({ quota: 5, remaining: 0 });
  });
});

describe("a service that always names new policies", () => {
  it("does not fill the memory", async () => {
    const clock = createManualClock();
    let served = 0;
    const fetch = async () => {
      served += 1;
      // With another quota each time, or the new policy would be the former one under another name.
      const headers = {
        "x-ratelimit-policy": `"default";q=3000;w=60, "p${served}";q=${50 + served};w=1`,
        "x-ratelimit": `"default";r=2999;t=0, "p${served}";r=49;t=0`,
      };
      return Response.json({ message: "ok" }, { headers });
    };
    const partner = partnerWith({ fetch, clock });
    for (let call = 0; call < 200; call++) await settle(clock, partner.auth.validate(), 10);
    expect(Object.keys(partner.rateLimits.policies).length).toBeLessThan(60);
  });
});

describe("a 429", () => {
  const refusal = (levels: string, retryAfter: number, code = "rate_limited") =>
    Response.json(
      { code, message: "no" },
      {
        status: 429,
        headers: {
          "retry-after": String(retryAfter),
          "x-ratelimit-policy": '"default";q=3000;w=60',
          "x-ratelimit": levels,
        },
      },
    );
  const fine = () =>
    Response.json(
      { message: "ok" },
      { headers: { "x-ratelimit-policy": '"default";q=3000;w=60', "x-ratelimit": '"default";r=2000;t=0' } },
    );

  function connect(respond: (request: Request, seen: number) => Response, retries = 4) {
    const clock = createManualClock();
    const seen: number[] = [];
    const fetch = async (request: Request) => respond(request, seen.push(clock.now()));
    const partner = partnerWith({ fetch, clock, retry: { retries } });
    return { clock, partner, seen };
  }

  it("holds its policy for other calls when its own call is not retried", async () => {
    const { clock, partner, seen } = connect(
      (_, number) => (number === 1 ? refusal('"default";r=0;t=1', 5) : fine()),
      0,
    );
    expect(await rejection(partner.auth.validate())).toBeInstanceOf(RateLimitError);
    await settle(clock, partner.auth.validate());
    expect((seen[1] ?? 0) - (seen[0] ?? 0)).toBeGreaterThanOrEqual(5_000);
  });

  it("with another code, and with tokens left, delays its own call only", async () => {
    const { clock, partner, seen } = connect(({ url }, number) =>
      url.endsWith("/organization") || number > 1 ? fine() : refusal('"default";r=2990;t=0', 8, "image_storage_limit"),
    );
    const refused = partner.auth.validate();
    refused.catch(() => undefined);
    await clock.advance(10);
    await partner.request("GET", "/organization");
    expect((seen[1] ?? 0) - (seen[0] ?? 0)).toBeLessThan(1_000);
    await settle(clock, refused);
    expect((seen[2] ?? 0) - (seen[0] ?? 0)).toBeGreaterThanOrEqual(8_000);
  });

  it("holds all policies of its call when its headers report tokens: the limit is one that they do not name", async () => {
    const { clock, partner, seen } = connect((_, number) =>
      number === 1 ? refusal('"default";r=2990;t=0', 5) : fine(),
    );
    const first = partner.auth.validate();
    await clock.advance(10);
    await settle(clock, Promise.all([first, partner.auth.validate()]));
    expect(seen).toHaveLength(3);
    expect((seen[1] ?? 0) - (seen[0] ?? 0)).toBeGreaterThanOrEqual(5_000);
  });

  it("with a longer wait than any call allows is checked again after the longest wait that is allowed", async () => {
    const { clock, partner, seen } = connect((_, number) =>
      number === 1 ? refusal('"default";r=0;t=1', 86_400) : fine(),
    );
    expect(await rejection(partner.auth.validate())).toBeInstanceOf(RateLimitError);
    expect(await rejection(partner.auth.validate())).toBeInstanceOf(RateLimitError);
    await clock.advance(121_000);
    await settle(clock, partner.auth.validate());
    expect(seen).toHaveLength(2);
  });

  it("with a wait of zero does not use up all attempts at once", async () => {
    const { clock, partner, seen } = connect((_, number) => (number <= 4 ? refusal('"default";r=0;t=1', 0) : fine()));
    await settle(clock, partner.auth.validate());
    expect(seen).toHaveLength(5);
    expect((seen[4] ?? 0) - (seen[0] ?? 0)).toBeGreaterThan(0);
  });
});
