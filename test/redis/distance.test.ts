import { expect, it } from "vitest";
import { CancelScope } from "../../src/http/cancel-scope.ts";
import type { Pacer } from "../../src/http/pacing/pacer.ts";
import { TokenTooFar } from "../../src/http/pacing/queue.ts";
import type { PartnerClock } from "../../src/util/clock.ts";
import { endpointOf } from "../support/endpoints.ts";
import { simulate } from "./simulation.ts";
import { describeWithRedis, useRedis } from "./use-redis.ts";

const endpoint = endpointOf("orders.get");
const maxRetryAfter = 120_000;

/** Acquires as a call does: it ends when the next token is too far away. */
async function acquire(pacer: Pacer, clock: PartnerClock) {
  if (pacer.tryAcquire(endpoint) !== undefined) throw new Error("A fleet has no token at once.");
  try {
    return await pacer.acquire(endpoint, "normal", new CancelScope(clock, undefined, undefined), { maxRetryAfter });
  } catch (error) {
    if (!(error instanceof TokenTooFar)) throw error;
    return "too far";
  }
}

const headers = (quota: string, remaining: number, name = "default") =>
  new Headers({ "x-ratelimit-policy": `"${name}";${quota}`, "x-ratelimit": `"${name}";r=${remaining};t=0` });
const absurd = headers("q=1;w=31536000", 0);
const usual = headers("q=300;w=6", 200);

describeWithRedis("a fleet whose next token is further away than `maxRetryAfter`", () => {
  const context = useRedis();

  it("ends the calls of each process, and checks again after `maxRetryAfter`", async () => {
    const { clock, join } = simulate(context.redis);
    const processes = [join(), join()];
    const call = async (pacer: Pacer, response: Headers) => {
      const outcome = acquire(pacer, clock).then((grant) => {
        if (typeof grant === "string") return grant;
        pacer.observe(endpoint, grant, response);
        return "sent";
      });
      await clock.run(clock.now() + 500);
      return await Promise.race([outcome, Promise.resolve("waits")]);
    };
    const both = (response: Headers) => Promise.all(processes.map((pacer) => call(pacer, response)));

    const [first] = processes;
    if (first === undefined) throw new Error("There are two processes.");
    expect(await call(first, absurd)).toBe("sent");
    await clock.run(clock.now() + 1_000);
    expect(await both(absurd)).toEqual(["too far", "too far"]);
    await clock.run(clock.now() + 60_000);
    expect(await both(absurd)).toEqual(["too far", "too far"]);

    // Each process reads Redis, and together they send one request to the service.
    await clock.run(clock.now() + 200_000);
    const outcomes = await both(usual);
    expect(outcomes).toContain("sent");
    await clock.run(clock.now() + 2_000);
    await both(usual);
    await clock.run(clock.now() + 2_000);
    expect(await both(usual)).toEqual(["sent", "sent"]);
  });

  it.each(["constructor", "__proto__", "toString"])("paces a policy named %s", async (name) => {
    const { clock, join } = simulate(context.redis);
    const pacer = join();
    let sent = 0;
    const call = async () => {
      const grant = await acquire(pacer, clock);
      if (typeof grant === "string") return;
      sent += 1;
      pacer.observe(endpoint, grant, headers("q=50;w=10", 50 - sent, name));
    };
    for (let number = 0; number < 10; number++) {
      void call();
      await clock.run(clock.now() + 500);
    }
    expect(sent).toBe(10);
    expect(pacer.rateLimits().policies.default).toMatchObject({ quota: 50, window: 10_000 });
  });
});
