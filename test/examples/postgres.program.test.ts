import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { PodPartner } from "pod-partner";
import { type EmulatorOptions, sampleImage, startEmulator, validOrder } from "pod-partner/testing";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { describeWithPostgres, usePostgres } from "../support/use-postgres.ts";
import { root, runExample, startExample, token } from "./process.ts";

const folder = join(root, "examples/postgres");

describeWithPostgres("the example on Postgres", () => {
  const context = usePostgres();
  let orders: typeof import("../../examples/postgres/orders.ts");
  let database: typeof import("../../examples/postgres/database.ts");

  beforeAll(async () => {
    vi.stubEnv("DATABASE_URL", context.server.url);
    const migrate = () => promisify(execFile)(process.execPath, [join(folder, "migrate.ts")], { cwd: root });
    await migrate();
    await migrate(); // at the next deployment
    database = await import("../../examples/postgres/database.ts");
    orders = await import("../../examples/postgres/orders.ts");
    return async () => {
      vi.unstubAllEnvs();
      await database.boss.stop();
      await database.pool.end();
    };
  });

  const rows = async (text: string) => (await context.pool.query(text)).rows;
  const statesOf = (start: string) => rows(`SELECT * FROM order_states WHERE id LIKE '${start}%' ORDER BY id`);
  const eventually = (holds: () => Promise<unknown>) => vi.waitFor(holds, { timeout: 90_000, interval: 250 });

  /** A service that makes an order for each request, an image there, and the programs. */
  async function service(options: EmulatorOptions = {}) {
    const emulator = await startEmulator({ repeatedIdentifier: "create", ...options });
    onTestFinished(() => emulator.close());
    const { baseUrl, secretKey } = emulator;
    const environment = {
      DATABASE_URL: context.server.url,
      POD_PARTNER_BASE_URL: baseUrl,
      POD_PARTNER_SECRET_KEY: secretKey,
      CALLBACK_TOKEN: token,
      PORT: "0",
    };
    const { reference: imageReference } = await new PodPartner({ baseUrl, secretKey }).images.upload(sampleImage());
    const line = { productReference: emulator.demo.products.slimCase, imageReference, quantity: 1 };
    return {
      emulator,
      environment,
      order: (customIdentifier: string) => validOrder(emulator, { customIdentifier, orderlines: [line] }),
      placed: () => emulator.world().organizations[0]?.orders ?? [],
      worker: () => startExample("postgres/worker.ts", environment),
    };
  }

  const accept = (order: Parameters<typeof orders.accept>[1]) =>
    database.db.transaction().execute((transaction) => orders.accept(transaction, order));

  it("is short", () => {
    for (const name of readdirSync(folder)) {
      expect(readFileSync(join(folder, name), "utf8").split("\n").length).toBeLessThan(60);
    }
  });

  it("is in docs/postgres.md as it is, where the page shows a file", () => {
    const shown = [
      ...readFileSync(join(root, "docs/postgres.md"), "utf8").matchAll(
        /^```ts separate\n\/\/ (\w+\.ts)\n([\s\S]*?)^```$/gm,
      ),
    ];
    expect(shown.length).toBeGreaterThan(0);
    for (const [, name = "", code] of shown) expect(code).toBe(readFileSync(join(folder, name), "utf8"));
  });

  it("leaves neither an order nor a job after a rollback", async () => {
    const { order } = await service();
    const declined = database.db.transaction().execute(async (transaction) => {
      await orders.accept(transaction, order("rolled-1"));
      throw new Error("declined");
    });
    await expect(declined).rejects.toThrow("declined");
    expect(await statesOf("rolled")).toEqual([]);
    expect(await rows("SELECT * FROM pgboss.job WHERE data ->> 'id' = 'rolled-1'")).toEqual([]);
  });

  it("places an order whose shop died after the payment, once, and writes back what the service makes of it", async () => {
    const { emulator, environment, order, placed, worker } = await service();
    const shop = startExample("postgres/shop.ts", environment);
    const origin = await shop.origin();
    const pay = () => fetch(`${origin}/paid`, { method: "POST", body: JSON.stringify(order("paid-1")) });
    const responses = await Promise.all([pay(), pay()]);
    expect(responses.map(({ status }) => status)).toEqual([204, 204]);
    await shop.end("SIGKILL");
    expect(await statesOf("paid")).toMatchObject([{ state: "waiting", reference: null }]);

    const first = worker();
    await first.printed(/^paid-1 placed /);
    const [{ reference } = expect.fail("no order"), ...others] = placed();
    expect(others).toEqual([]);
    await eventually(async () => expect(await statesOf("paid")).toMatchObject([{ state: "placed", reference }]));

    emulator.setCallbackUrl(emulator.demo.stores.api, `${await first.origin()}/callback?token=${token}`);
    emulator.ship(reference);
    await emulator.callbacks.idle();
    expect(await statesOf("paid")).toMatchObject([{ state: "placed", reference, shipped: 1, is_open: false }]);
    expect(await first.end("SIGTERM")).toEqual([0, null]);
  });

  it("places each order once when a worker is killed while the service works on its order", async () => {
    const { emulator, order, placed, worker } = await service();
    const created = () => emulator.requests.filter(({ method, path }) => method === "POST" && path === "/orders");
    // Longer than its job takes to come back: the other worker's first look-up finds nothing.
    emulator.faults.add({ on: "orders.create", nth: 5, fault: "slow", ms: 28_000, when: "before" });
    const ids = Array.from({ length: 24 }, (_, index) => `killed-${index}`);
    for (const id of ids) await accept(order(id));
    const killed = worker();
    await eventually(async () => expect(created().length).toBeGreaterThanOrEqual(5));
    const other = worker();
    await other.origin();
    await killed.end("SIGKILL");
    await eventually(async () => {
      const states = await statesOf("killed");
      expect(states.filter(({ state }) => state !== "placed")).toEqual([]);
    });
    const identifiers = placed().map(({ customIdentifier }) => customIdentifier);
    expect(identifiers.toSorted()).toEqual(ids.toSorted());
    expect(created()).toHaveLength(ids.length);
    expect(await other.end("SIGTERM")).toEqual([0, null]);
  });

  it("goes on after a restart of Postgres, and finishes the orders in work when a deployment ends it", async () => {
    const { emulator, order, placed, worker } = await service();
    emulator.faults.add({ on: "orders.create", fault: "slow", ms: 200, when: "after" });
    const ids = Array.from({ length: 40 }, (_, index) => `restart-${index}`);
    for (const id of ids) await accept(order(id));
    const finished = "SELECT id FROM orders WHERE id LIKE 'restart%' AND state = 'placed'";
    // By both workers: nobody knows which of them takes how many.
    const finishes = (count: number) =>
      eventually(async () => expect((await rows(finished)).length).toBeGreaterThanOrEqual(count));
    const workers = [worker(), worker()];
    await finishes(4);
    await context.server.crash();
    await context.server.start();
    await finishes(12);
    expect(await workers[0]?.end("SIGTERM")).toEqual([0, null]);
    await finishes(ids.length);
    expect(
      placed()
        .map(({ customIdentifier }) => customIdentifier)
        .toSorted(),
    ).toEqual(ids.toSorted());
    expect(await workers[1]?.end("SIGTERM")).toEqual([0, null]);
  });

  it("shows an order that is refused, with code and hint, and runs it again", async () => {
    const { emulator, order, placed, worker } = await service();
    const wrong = order("refused-1");
    const [line] = wrong.orderlines;
    const unknown = "Image_01h8x2k3m4n5p6q7r8s9t0v1w2";
    await accept({ ...wrong, orderlines: [{ ...line, imageReference: unknown }] } as typeof wrong);
    await accept({ ...order("refused-2"), orderlines: [] });
    const program = worker();
    await eventually(async () => {
      expect(await statesOf("refused")).toMatchObject([
        { state: "refused", tries: 1, code: expect.any(String), hint: expect.any(String) },
        { state: "refused", tries: 1, error: "RequestValidationError", message: expect.stringContaining("orderlines") },
      ]);
    });
    expect(placed()).toEqual([]);
    expect(emulator.requests.filter(({ method, path }) => method === "POST" && path === "/orders")).toHaveLength(1);

    for (const id of ["refused-1", "refused-2"]) {
      await context.pool.query("UPDATE orders SET content = $2 WHERE id = $1", [id, JSON.stringify(order(id))]);
    }
    const shown = await runExample("postgres/operator.ts", { arguments: ["refused-1", "refused-2"] });
    expect(shown).toMatchObject({ code: 0, errors: "" });
    expect(shown.output).toContain('"state":"waiting"');
    await program.printed(/^refused-\d placed /, 2);
    await eventually(async () => {
      expect(await statesOf("refused")).toMatchObject([
        { state: "placed", error: null },
        { state: "placed", error: null },
      ]);
    });
    expect(placed()).toHaveLength(2);
    const again = await runExample("postgres/operator.ts", { arguments: ["refused-1"] });
    expect(again).toMatchObject({ code: 1, errors: expect.stringContaining("refused-1 is placed, or unknown") });
    expect(await program.end("SIGTERM")).toEqual([0, null]);
  });

  it("repeats an order while the key is refused, and shows why it waits", async () => {
    const { emulator, order, placed, worker } = await service();
    const refusal = emulator.faults.add({ on: "orders.lookup", fault: "status", status: 401, code: "unauthorized" });
    await accept(order("keyed-1"));
    const program = worker();
    await eventually(async () =>
      expect(await statesOf("keyed")).toMatchObject([
        { state: "waiting", error: "AuthenticationError", code: "unauthorized" },
      ]),
    );
    refusal.remove();
    await program.printed(/^keyed-1 placed /);
    expect(placed()).toHaveLength(1);
    expect(await program.end("SIGTERM")).toEqual([0, null]);
  });
});
