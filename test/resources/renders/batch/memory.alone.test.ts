import { setImmediate } from "node:timers/promises";
import type { RenderInput } from "pod-partner";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../support/garbage.ts";
import { rowsOf, startService } from "./service.ts";
import { collect } from "./setup.ts";

const count = 300;

/** Runs a batch of rows. Returns how many of the first 200 are in memory while the last ones are worked on. */
async function reachable(pairOf: (n: number) => RenderInput): Promise<number> {
  const { partner } = startService(
    () => 0,
    () => 1,
  );
  const options = { download: false, concurrency: 4 } as const;
  // The renders of the pairs are in the storage.
  await collect(partner.renders.batch([pairOf(0)], options));
  const rows: WeakRef<object>[] = [];
  function* source() {
    for (let n = 0; n < count; n += 1) {
      const row = { ...pairOf(n) };
      rows.push(new WeakRef(row));
      yield row;
    }
  }
  let ended = 0;
  for await (const _ of partner.renders.batch(source(), options)) {
    ended += 1;
    if (ended < count - 20) continue;
    // A WeakRef keeps its object until the end of the task.
    await setImmediate();
    collectGarbage();
    return rows.slice(0, 200).filter((row) => row.deref() !== undefined).length;
  }
  throw new Error("The batch ended too early");
}

describe("the memory of a batch", () => {
  it("does not keep rows that have their outcomes", async () => {
    const pairs = rowsOf(count);
    const [first] = pairs;
    if (first === undefined) throw new Error("There are no rows");
    expect(await reachable((n) => pairs[n] ?? first)).toBeLessThanOrEqual(2);
  });

  it("does not keep the rows of a pair that comes again and again", async () => {
    const [first] = rowsOf(1);
    if (first === undefined) throw new Error("There are no rows");
    expect(await reachable(() => first)).toBeLessThanOrEqual(2);
  });
});
