import { Buffer } from "node:buffer";
import { createOrderFollower } from "pod-partner/callbacks";
import { redisStorage } from "pod-partner/redis";
import { afterEach, expect, it } from "vitest";
import { seal } from "../../../src/storage/scoped-storage.ts";
import { toJson } from "../../../src/storage/values.ts";
import { describeWithRedis, useRedis } from "../../redis/use-redis.ts";
import { createWorld, first, second } from "./support.ts";

describeWithRedis("a follower on Redis", () => {
  const context = useRedis();
  const followers: { close(): Promise<void> }[] = [];
  afterEach(() => Promise.all(followers.splice(0).map((follower) => follower.close())));

  function start() {
    const { service, handed } = createWorld();
    const follower = createOrderFollower({
      partner: service.client,
      storage: redisStorage(context.redis),
      onChange: ({ order }) => handed.push({ reference: order.reference, changes: [], shipped: [], held: false }),
    });
    followers.push(follower);
    return { follower, handed: () => handed.map(({ reference }) => reference).sort(), reads: service.reads };
  }

  const put: Record<string, (key: string, name: string) => Promise<unknown>> = {
    "a list": (key) => context.redis.rPush(key, "1"),
    "a text": (key) => context.redis.set(key, "reserved"),
    "base64 without a checksum": (key) => context.redis.set(key, "QUJDRA=="),
    "JSON of another form": (key, name) => {
      const sealed = seal(name, toJson({ v: 1, looked: "yesterday", order: { lines: 7 } }));
      return context.redis.set(key, Buffer.from(sealed).toString("base64"));
    },
  };
  const cases = [
    ...["order", "open"].flatMap((kind) => Object.keys(put).map((what) => [kind, what] as const)),
    // Valid JSON with a checksum would be a lock of another process.
    ...["a list", "a text", "base64 without a checksum"].map((what) => ["lease", what] as const),
  ];

  it.each(cases)("sweeps all orders when the key `%s` of one of them holds %s", async (kind, what) => {
    const { follower, handed } = start();
    await follower.follow(first);
    await follower.follow(second);
    const name = `follower:${kind}:${first}`;
    const key = `pod-partner:{scope}:${name}`;
    await context.redis.del(key);
    await put[what]?.(key, name);
    expect(await follower.reconcile()).toEqual({ checked: 2, changed: 2, gone: 0 });
    expect(handed()).toEqual([first, second]);
    expect(await start().follower.reconcile()).toEqual({ checked: 2, changed: 0, gone: 0 });
  });
});
