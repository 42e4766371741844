import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Queue } from "bullmq";
import { PodPartner } from "pod-partner";
import { sampleImage, startEmulator } from "pod-partner/testing";
import { expect, it, vi } from "vitest";
import { describeWithRedis, useRedis } from "../redis/use-redis.ts";
import { root, startExample, token } from "./process.ts";

const folder = join(root, "examples/fleet");
const orders = 24;

/** Waits for work of several processes, which waits until the locks of a killed worker's jobs end. */
const eventually = (holds: () => Promise<unknown>) => vi.waitFor(holds, { timeout: 120_000, interval: 250 });

describeWithRedis("the example of a fleet", () => {
  const context = useRedis();

  it("is short", () => {
    expect(readdirSync(folder).sort()).toEqual(["receiver.ts", "worker.ts"]);
    for (const name of readdirSync(folder)) {
      expect(readFileSync(join(folder, name), "utf8").split("\n").length).toBeLessThan(60);
    }
  });

  it("loses nothing and doubles no order and no effect when workers are killed in the middle", async () => {
    const { server, redis } = context;
    await using emulator = await startEmulator({ repeatedIdentifier: "create" });
    const { baseUrl, secretKey, demo } = emulator;
    const client = { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey };
    const environment = { ...client, CALLBACK_TOKEN: token, REDIS_URL: server.url, PORT: "0" };
    const { reference: imageReference } = await new PodPartner({ baseUrl, secretKey }).images.upload(sampleImage());
    emulator.faults.add({ on: "orders.create", fault: "slow", ms: 200, when: "after" });
    const receiver = startExample("fleet/receiver.ts", environment);
    emulator.setCallbackUrl(demo.stores.api, `${await receiver.origin()}/callback?token=${token}`);

    const jobs = new Queue("orders", { connection: { url: server.url } });
    const line = { productReference: demo.products.slimCase, imageReference, quantity: 2 };
    const workers = [startExample("fleet/worker.ts", environment), startExample("fleet/worker.ts", environment)];
    const killed: typeof workers = [];
    /** Kills the worker that is the first to print `count` lines like this: chance divides the jobs. */
    const killFirst = async (pattern: RegExp, count: number) => {
      const isFirst = ({ lines }: (typeof workers)[number]) =>
        lines.filter((line) => pattern.test(line)).length >= count;
      await expect.poll(() => workers.some(isFirst)).toBe(true);
      const [first = expect.fail("no worker")] = workers.splice(workers.findIndex(isFirst), 1);
      await first.end("SIGKILL");
      killed.push(first);
    };
    for (let number = 1; number <= orders; number += 1) {
      const order = {
        storeReference: demo.stores.api,
        shippingKind: "combined",
        customIdentifier: `shop-${number}`,
        orderlines: [line],
      };
      await jobs.add("place", { order }, { attempts: 10, removeOnComplete: true });
    }
    await killFirst(/ placed /, 4);
    workers.push(startExample("fleet/worker.ts", environment));
    await eventually(async () => expect(await jobs.getJobCountByTypes("wait", "active", "delayed")).toBeLessThan(2));
    const stored = emulator.world().organizations[0]?.orders ?? [];
    expect(stored).toHaveLength(orders);
    expect(new Set(stored.map(({ customIdentifier }) => customIdentifier)).size).toBe(orders);

    for (const { reference } of stored) emulator.ship(reference, { lines: [{ index: 1, quantity: 1 }] });
    await killFirst(/ shipped /, 3);
    for (const { reference } of stored) emulator.ship(reference);
    await emulator.callbacks.idle();
    await eventually(async () => {
      const effects = await redis.sMembers("shop:effects");
      expect(effects.filter((effect) => effect.endsWith(" 1 2"))).toHaveLength(orders);
    });
    const shipped = [...workers, ...killed].flatMap(({ lines }) => lines.filter((one) => one.includes(" shipped ")));
    expect(new Set(shipped).size).toBe(shipped.length);
    expect(await workers[0]?.end("SIGTERM")).toEqual([0, null]);
    expect(await receiver.end("SIGTERM")).toEqual([0, null]);
    await jobs.close();
  });
});
