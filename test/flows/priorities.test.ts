import type { Priority } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { orderOf } from "./matrix/subjects.ts";
import { setUp } from "./setup.ts";

type Stage = ReturnType<typeof setUp>;

/** A service that gives one token in ten seconds, and a client that has just spent it: the next calls wait in the queue. */
async function queued(): Promise<Stage & { readonly lines: () => readonly string[] }> {
  const stage = setUp({ limits: { default: { quota: 1, window: 10_000 } } });
  await stage.settle(stage.partner.auth.validate());
  const before = stage.emulator.requests.length;
  return {
    ...stage,
    lines: () => stage.emulator.requests.slice(before).map(({ method, path }) => `${method} ${path.split("?")[0]}`),
  };
}

const read = ({ partner }: Stage) => partner.organization.stores.list();
const readLine = "GET /stores";

async function drain(outcomes: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of outcomes);
}

const bulk: readonly (readonly [string, (stage: Stage, priority?: Priority) => AsyncIterable<unknown>])[] = [
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
    const stage = await queued();
    const many = drain(begin(stage));
    await stage.clock.advance(0);
    await stage.settle(Promise.all([many, read(stage)]));
    expect(stage.lines()[0]).toBe(readLine);
    expect(stage.lines().length).toBeGreaterThan(3);
  });

  it("goes first with a high priority", async () => {
    const stage = await queued();
    const many = drain(begin(stage, "high"));
    await stage.clock.advance(0);
    await stage.settle(Promise.all([many, read(stage)]));
    expect(stage.lines().indexOf(readLine)).toBeGreaterThan(2);
  });
});

describe("the look-up of a lost creation", () => {
  it("goes before calls that have waited longer, because its outcome stays unknown meanwhile", async () => {
    const stage = await queued();
    stage.emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    const placed = stage.partner.orders.create(orderOf(stage.emulator, "shop-1"));
    const reads = [read(stage), read(stage), read(stage)];
    await stage.settle(Promise.all([placed, ...reads]));
    expect(await placed).toMatchObject({ recovered: true });
    expect(stage.lines()).toEqual([
      "POST /orders",
      "GET /utilities/lookup-order-reference-by-custom-identifier",
      ...reads.map(() => readLine),
    ]);
  });
});
