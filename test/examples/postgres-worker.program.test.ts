import { PodPartner } from "pod-partner";
import { startEmulator, validOrder } from "pod-partner/testing";
import { expect, it, onTestFinished, vi } from "vitest";
import { runCli } from "../cli/process.ts";
import { describeWithPostgres, usePostgres } from "../support/use-postgres.ts";
import { startExample } from "./process.ts";

// Real programs and kills: slow on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

describeWithPostgres("the worker on Postgres without a queue library", () => {
  const context = usePostgres();
  const rows = async (text: string) => (await context.pool.query(text)).rows;

  async function service() {
    const emulator = await startEmulator({ repeatedIdentifier: "create" });
    onTestFinished(() => emulator.close());
    const { baseUrl, secretKey } = emulator;
    const environment = {
      DATABASE_URL: context.server.url,
      POD_PARTNER_BASE_URL: baseUrl,
      POD_PARTNER_SECRET_KEY: secretKey,
    };
    const worker = () => startExample("cookbook/postgres-worker.ts", environment);
    const add = async (id: string, changes: object = {}) => {
      const line = { productReference: emulator.demo.products.screenProtector, quantity: 1 };
      const content = { ...validOrder(emulator, { orderlines: [line] }), customIdentifier: undefined, ...changes };
      await context.pool.query("INSERT INTO order_jobs (id, content) VALUES ($1, $2)", [id, JSON.stringify(content)]);
    };
    const states = (start: string) => rows(`SELECT * FROM order_jobs WHERE id LIKE '${start}%' ORDER BY id`);
    return { emulator, partner: new PodPartner({ baseUrl, secretKey }), worker, add, states };
  }
  const eventually = (holds: () => Promise<unknown>) => vi.waitFor(holds, { timeout: 90_000, interval: 250 });
  const ready = () =>
    eventually(async () =>
      expect(await rows("SELECT to_regclass('order_jobs') AS name")).not.toEqual([{ name: null }]),
    );

  it("places each order once, in two workers of which one is killed while the service works on its order", async () => {
    const { emulator, worker, add, states } = await service();
    const killed = worker();
    await ready();
    emulator.faults.add({ on: "orders.create", nth: 3, fault: "slow", ms: 5_000, when: "before" });
    const ids = Array.from({ length: 12 }, (_, index) => `kill-${String(index).padStart(2, "0")}`);
    for (const id of ids) await add(id);
    const created = () => emulator.requests.filter(({ method, path }) => method === "POST" && path === "/orders");
    await eventually(async () => expect(created().length).toBeGreaterThanOrEqual(3));
    await killed.end("SIGKILL");
    const others = [worker(), worker()];
    await eventually(async () => {
      expect((await states("kill")).filter(({ state }) => state !== "placed")).toEqual([]);
    });
    const placed = emulator.world().organizations[0]?.orders.map(({ customIdentifier }) => customIdentifier);
    expect(placed?.toSorted()).toEqual(ids);
    for (const other of others) expect(await other.end("SIGTERM")).toEqual([0, null]);
  });

  it("keeps an order that the service refuses with its code, and tries again what may pass", async () => {
    const { emulator, worker, add, states } = await service();
    const program = worker();
    await ready();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "status", status: 400, code: "product_not_orderable" });
    await add("refused-1");
    await eventually(async () => {
      expect(await states("refused")).toMatchObject([{ state: "refused", error: { code: "product_not_orderable" } }]);
    });
    await context.pool.query("UPDATE order_jobs SET state = 'waiting' WHERE id = 'refused-1'");
    await eventually(async () => expect(await states("refused")).toMatchObject([{ state: "placed", error: null }]));
    expect(await program.end("SIGTERM")).toEqual([0, null]);
  });

  it("starts several times at once without its table, and goes on when Postgres ends its connection in an order", async () => {
    const { emulator, worker, add, states } = await service();
    await context.pool.query("DROP TABLE IF EXISTS order_jobs");
    const workers = [worker(), worker(), worker(), worker()];
    await ready();
    const created = () => emulator.requests.filter(({ method, path }) => method === "POST" && path === "/orders");
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 3_000, when: "before" });
    await add("ended-1");
    await eventually(async () => expect(created()).toHaveLength(1));
    // Of the workers in a transaction, only the one that has locked a row has an identifier of it.
    const ended = await rows(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND backend_xid IS NOT NULL",
    );
    expect(ended).toHaveLength(1);
    await eventually(async () => expect(await states("ended")).toMatchObject([{ state: "placed" }]));
    expect(emulator.world().organizations[0]?.orders).toHaveLength(1);
    for (const each of workers) expect(await each.end("SIGTERM")).toEqual([0, null]);
  });

  it("passes verify with the program that adds its orders and ends it", async () => {
    const program = ["examples/verify/endless-worker.ts", "examples/cookbook/postgres-worker.ts"];
    const command = [
      "--only",
      "twice-at-once,killed-during",
      "--timeout",
      "120000",
      "--",
      process.execPath,
      ...program,
    ];
    const { code, output } = await runCli(["verify", ...command], { DATABASE_URL: context.server.url });
    expect(output).toContain("Without a fault: 5 orders, 0 claims");
    expect(output).toContain("0 rows failed, 2 passed");
    expect(code).toBe(0);
  });
});
