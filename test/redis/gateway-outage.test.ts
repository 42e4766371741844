import { PodPartner } from "pod-partner";
import { redisPacing } from "pod-partner/redis";
import { expect, it } from "vitest";
import { describeWithRedis, useRedis } from "./use-redis.ts";

describeWithRedis("a fleet whose gateway responds to every request", () => {
  const context = useRedis();

  it("does not make its calls wait for each other", async () => {
    let inFlight = 0;
    let most = 0;
    const fetch = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inFlight -= 1;
      return new Response("<h1>Unavailable</h1>", { status: 503, headers: { "content-type": "text/html" } });
    };
    const partner = new PodPartner({
      baseUrl: "https://partner.example/v2",
      secretKey: "a-secret-key",
      fetch,
      pacing: { shared: redisPacing(context.redis) },
      retry: { retries: 0 },
    });
    await Promise.allSettled(Array.from({ length: 60 }, () => partner.organization.stores.list()));
    expect(most).toBeGreaterThan(10);
  });
});
