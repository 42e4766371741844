import { describe, expect, it } from "vitest";
import type { Priority } from "../../../src/http/pacing/queue.ts";
import { ref } from "../../support/references.ts";
import { setUp } from "../../support/setup.ts";
import { orderOf } from "../matrix/subjects.ts";

type Setup = ReturnType<typeof setUp>;

/** A service that gives one token in ten seconds, and a client that has just spent it: the next calls wait in the queue. */
async function queued(): Promise<Setup & { readonly lines: () => readonly string[] }> {
  const setup = setUp({ limits: { default: { quota: 1, window: 10_000 } } });
  await setup.settle(setup.partner.auth.validate());
  const before = setup.emulator.requests.length;
  return {
    ...setup,
    lines: () => setup.emulator.requests.slice(before).map(({ method, path }) => `${method} ${path.split("?")[0]}`),
  };
}

const read = ({ partner }: Setup) => partner.organization.stores.list();
const readLine = "GET /stores";

async function drain(outcomes: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of outcomes);
}

const bulk: readonly (readonly [string, (setup: Setup, priority?: Priority) => AsyncIterable<unknown>])[] = [
  [
    "orders.ensureMany",
    ({ partner, emulator }, priority) =>
      partner.orders.ensureMany(
        ["shop-1", "shop-2", "shop-3"].map((customIdentifier) => orderOf(emulator, customIdentifier)),
        { priority },
      ),
  ],
  [
    "renders.batch",
    ({ partner }, priority) =>
      partner.renders.batch(
        ["1", "2", "3"].map((tail) => ({
          compositionReference: ref("Composition", tail),
          imageReference: ref("Image", tail),
        })),
        { priority },
      ),
  ],
];

describe.each(bulk)("%s", (_, begin) => {
  it("lets later calls go first: a shop's customers do not wait behind it", async () => {
    const setup = await queued();
    const many = drain(begin(setup));
    await setup.clock.advance(0);
    await setup.settle(Promise.all([many, read(setup)]));
    expect(setup.lines()[0]).toBe(readLine);
    expect(setup.lines().length).toBeGreaterThan(3);
  });

  it("goes first with a high priority", async () => {
    const setup = await queued();
    const many = drain(begin(setup, "high"));
    await setup.clock.advance(0);
    await setup.settle(Promise.all([many, read(setup)]));
    expect(setup.lines().indexOf(readLine)).toBeGreaterThan(2);
  });
});

describe("the look-up of a lost creation", () => {
  it("goes before calls that have waited longer, because its outcome stays unknown meanwhile", async () => {
    const setup = await queued();
    setup.emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    const placed = setup.partner.orders.create(orderOf(setup.emulator, "shop-1"));
    const reads = [read(setup), read(setup), read(setup)];
    await setup.settle(Promise.all([placed, ...reads]));
    expect(await placed).toMatchObject({ recovered: true });
    expect(setup.lines()).toEqual([
      "POST /orders",
      "GET /utilities/lookup-order-reference-by-custom-identifier",
      ...reads.map(() => readLine),
    ]);
  });
});
