import { ConfigurationError, PodPartner } from "pod-partner";
import { redisPacing } from "pod-partner/redis";
import { createManualClock } from "pod-partner/testing";
import { beforeEach, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { describeWithRedis, useRedis } from "./use-redis.ts";

const baseUrl = "https://partner.example/v2";
const headers = {
  "x-ratelimit-policy": '"default";q=3000;w=60, "uploads";q=5000;w=86400',
  "x-ratelimit": '"default";r=2900;t=0, "uploads";r=5000;t=0',
};

describeWithRedis("the data of a fleet in Redis", () => {
  const context = useRedis();

  let clock = createManualClock();
  beforeEach(() => {
    clock = createManualClock();
  });
  const partnerOf = (secretKey: string, organization?: string, root = baseUrl) =>
    new PodPartner({
      baseUrl: root,
      secretKey,
      clock,
      pacing: { shared: redisPacing(context.redis, { organization }) },
      fetch: async () => Response.json({ message: "valid", image: { reference: ref("Image") } }, { headers }),
    });

  /** Makes a call, and waits until the fleet knows its response. */
  async function validate(partner: PodPartner): Promise<void> {
    await partner.auth.validate();
    await clock.advance(100);
  }

  it("has a bucket for each policy, on one node of a cluster, that expires seconds after the last call", async () => {
    const partner = partnerOf("key-5up3r53cr3t");
    await partner.images.upload(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0));
    const keys = (await context.redis.keys("*")).sort();
    const slot = /^pod-partner:\{[0-9a-f]{32}\}:/.exec(keys[0] ?? "")?.[0];
    expect(keys).toEqual([`${slot}default`, `${slot}uploads`]);
    const [soon = 0, later = 0] = await Promise.all(keys.map((key) => context.redis.pTTL(key)));
    expect(soon).toBeGreaterThan(5_000);
    expect(soon).toBeLessThanOrEqual(10_000);
    // Two tokens of uploads.
    expect(later).toBeGreaterThan(30_000);
    expect(later).toBeLessThanOrEqual(34_560);
  });

  it("does not contain the secret key", async () => {
    await partnerOf("key-5up3r53cr3t").auth.validate();
    const keys = await context.redis.keys("*");
    const values = await Promise.all(keys.map((key) => context.redis.get(key)));
    expect(JSON.stringify([keys, values])).not.toContain("5up3r53cr3t");
  });

  it("is shared by clients with the same key, or with the same organization name", async () => {
    for (const key of ["secret-key-one", "secret-key-one"]) await validate(partnerOf(key));
    expect(await context.redis.keys("*")).toHaveLength(1);
    for (const key of ["secret-key-two", "secret-key-three"]) await validate(partnerOf(key, "shop"));
    expect(await context.redis.keys("*")).toHaveLength(2);
    await partnerOf("secret-key-four").auth.validate();
    expect(await context.redis.keys("*")).toHaveLength(3);
  });

  it("is separate for production and test", async () => {
    await partnerOf("secret-key-one", "shop").auth.validate();
    await partnerOf("secret-key-one", "shop", "https://test.partner.example/v2").auth.validate();
    expect(await context.redis.keys("*")).toHaveLength(2);
  });

  it("is accessed a few times in a thousand sequential calls", async () => {
    let visits = 0;
    const counting = {
      evalSha: (sha: string, options: { keys: string[]; arguments: string[] }) => {
        visits += 1;
        return context.redis.evalSha(sha, options);
      },
      eval: (script: string, options: { keys: string[]; arguments: string[] }) => context.redis.eval(script, options),
    };
    const partner = new PodPartner({
      baseUrl,
      secretKey: "a-secret-key",
      clock: createManualClock(),
      pacing: { shared: redisPacing(counting) },
      fetch: async () => Response.json({ message: "valid" }, { headers }),
    });
    for (let call = 0; call < 1_000; call += 1) await partner.auth.validate();
    // About 50; some more on a busy machine.
    expect(visits).toBeLessThan(100);
    expect(partner.rateLimits.policies.default).toMatchObject({ quota: 3000, waiting: 0 });
    expect(partner.rateLimits.estimate(100)).toBe(0);
  });

  it("needs a storage from redisPacing: another object is refused", () => {
    for (const pacing of [{ storage: {} }, { storage: context.redis }, {}, "redis"]) {
      const make = () => new PodPartner({ baseUrl, secretKey: "a-secret-key", pacing: pacing as never });
      expect(make).toThrow(ConfigurationError);
    }
  });
});
