import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { settle } from "../../../support/settle.ts";
import { rowsOf, startService } from "./service.ts";
import { collect, setUpBatch, tally } from "./setup.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "pod-partner-batch-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const media = /^GET \/renders\/\w+\/media$/;

describe("the pictures of renders.batch", () => {
  it("are saved once for each pair, and not requested again by a later run", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(3);
    const rows = [...pairs, ...pairs];
    const run = () => collect(setup.connect().renders.batch(rows, { download: directory }));
    const outcomes = await run();
    expect(tally(outcomes)).toEqual({ ok: 6 });
    const names = pairs.map((pair) => `${pair.compositionReference}-${pair.imageReference}.png`).sort();
    expect((await readdir(directory)).sort()).toEqual(names);
    for (const outcome of outcomes) {
      if (!outcome.ok) throw outcome.error;
      expect((await readFile(outcome.value.path)).length).toBe(outcome.value.render.media?.size);
    }
    // One render was probed by its file before.
    expect(setup.count(media)).toBe(1 + 3);
    const before = setup.seen.length;
    expect(tally(await run())).toEqual({ ok: 6 });
    expect(setup.seen.length).toBe(before);
  });

  it("are requested again if the file is gone or has changed", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(2);
    const run = () => collect(setup.partner.renders.batch(pairs, { download: directory }));
    await run();
    const [one = "", two = ""] = await readdir(directory);
    const before = await readFile(join(directory, one));
    await rm(join(directory, one));
    await writeFile(join(directory, two), "changed");
    expect(tally(await run())).toEqual({ ok: 2 });
    expect((await readFile(join(directory, one))).equals(before)).toBe(true);
    expect((await readFile(join(directory, two))).length).toBeGreaterThan(100);
    expect(setup.creations()).toEqual([1, 1]);
  });

  it("need a folder that can be written to, before a render is created", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(2);
    const taken = join(directory, "file");
    await writeFile(taken, "not a folder");
    const before = setup.seen.length;
    await expect(collect(setup.partner.renders.batch(pairs, { download: taken }))).rejects.toMatchObject({
      name: "RequestValidationError",
      issues: [{ path: ["download"], message: expect.stringMatching(/^cannot be used: .*EEXIST/) }],
    });
    expect(setup.seen.length).toBe(before);
  });

  it.runIf(process.platform === "linux")(
    "need a file system that does not refuse their folder with ENOENT",
    async () => {
      const setup = setUpBatch({ renderDuration: 0 });
      const pairs = await setup.pairs(1);
      const before = setup.seen.length;
      await expect(collect(setup.partner.renders.batch(pairs, { download: "/proc/none/deep" }))).rejects.toMatchObject({
        name: "RequestValidationError",
        issues: [{ path: ["download"], message: expect.stringMatching(/^cannot be used: .*ENOENT/) }],
      });
      expect(setup.seen.length).toBe(before);
    },
  );

  it("are saved again for a row of the same pair when the caller has moved the file away", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const [pair] = await setup.pairs(1);
    const rows = Array(3).fill(pair);
    const sizes: number[] = [];
    for await (const outcome of setup.partner.renders.batch(rows, { download: directory, concurrency: 1 })) {
      if (!outcome.ok) throw outcome.error;
      sizes.push((await readFile(outcome.value.path)).length);
      await rm(outcome.value.path);
    }
    expect(new Set(sizes).size).toBe(1);
    expect(sizes).toHaveLength(3);
  });

  it("get their names from a function of the row and the render, also in new folders", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const rows = (await setup.pairs(2)).map((pair, n) => ({ sku: `SKU-${n}`, pair }));
    const outcomes = setup.partner.renders.batch(rows, {
      map: ({ pair }) => pair,
      download: directory,
      fileName: ({ sku }, render) => `${sku}/${render.status}.png`,
    });
    for await (const outcome of outcomes) {
      if (!outcome.ok) throw outcome.error;
      expect(outcome.value.path).toBe(join(directory, outcome.input.sku, "completed.png"));
    }
    expect((await readdir(directory)).sort()).toEqual(["SKU-0", "SKU-1"]);
  });

  it.each(["../outside.png", "/etc/outside.png", "", "..", ".", 5 as never])(
    "are not saved as %j, outside of the folder",
    async (name) => {
      const setup = setUpBatch({ renderDuration: 0 });
      const pairs = await setup.pairs(1);
      const options = { download: directory, fileName: () => name };
      const [outcome] = await collect(setup.partner.renders.batch(pairs, options));
      expect(outcome).toMatchObject({
        ok: false,
        reason: "error",
        // The render was made: the message does not say that nothing was sent.
        error: {
          issues: [{ path: ["fileName"] }],
          message: expect.stringMatching(/^The name for the picture is not valid/),
        },
      });
      expect(setup.count(media)).toBeLessThanOrEqual(1);
      expect(await readdir(directory)).toEqual([]);
      expect(setup.clock.pending).toBe(0);
    },
  );

  it("of two renders are not saved under the same name", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(2);
    const options = { download: directory, fileName: () => "mockup.png" };
    const outcomes = await collect(setup.partner.renders.batch(pairs, options));
    expect(tally(outcomes)).toEqual({ ok: 1, error: 1 });
  });

  it("that the caller does not read yet stay few", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(12);
    const loop = setup.partner.renders.batch(pairs, { concurrency: 3 })[Symbol.asyncIterator]();
    const first = await loop.next();
    for (let n = 0; n < 20; n += 1) await setup.clock.advance(0);
    // The one that was returned, three that wait for the caller, and the one that was probed.
    expect(setup.count(media)).toBeLessThanOrEqual(5);
    if (first.value?.ok) await first.value.value.media.cancel();
    await loop.return?.();
    expect(setup.clock.pending).toBe(0);
  });
});

describe("a picture that waits for a slow caller", () => {
  it("is opened again when the caller receives it, with its whole timeout", async () => {
    const unread: unknown[] = [];
    const setup = setUpBatch({ renderDuration: 0 });
    const partner = setup.connect({ hooks: { onUnreadDownload: (event) => unread.push(event) } });
    const pairs = await setup.pairs(5);
    for await (const outcome of partner.renders.batch(pairs)) {
      if (!outcome.ok) throw outcome.error;
      // The other pictures wait for the caller: together longer than the timeout of 30 s.
      await setup.clock.advance(20_000);
      expect((await outcome.value.media.bytes()).length).toBe(outcome.value.render.media?.size);
    }
    expect(unread).toEqual([]);
    // Each picture, and again those that were open for longer than 10 s.
    expect(setup.count(media)).toBeGreaterThan(5);
    expect(setup.count(media)).toBeLessThanOrEqual(10);
  });

  it("is opened twice only until the batch knows that the caller is slow", async () => {
    const { clock, partner, seen } = startService(
      () => 0,
      () => 1,
    );
    const read = async () => {
      for await (const outcome of partner.renders.batch(rowsOf(220))) {
        if (!outcome.ok) throw outcome.error;
        await outcome.value.media.cancel();
        await new Promise<void>((resolve) => clock.after(1_000, resolve));
      }
    };
    await settle(clock, read());
    // The first one is awaited by its file. A hundred are opened at once, and the others when few are open.
    expect(seen.filter(({ line }) => media.test(line)).length).toBeLessThanOrEqual(220 + 1 + 100);
    expect(clock.pending).toBe(0);
  });

  it("is not opened again when its request fails: that is its outcome", async () => {
    let fails = false;
    const setup = setUpBatch({ renderDuration: 0 });
    const fetch: typeof globalThis.fetch = async (request, init) =>
      fails
        ? Response.json({ code: "forbidden", message: "no" }, { status: 403 })
        : setup.emulator.fetch(request, init);
    const pairs = await setup.pairs(2);
    const outcomes: unknown[] = [];
    for await (const outcome of setup.connect({ fetch }).renders.batch(pairs)) {
      outcomes.push(outcome);
      if (!outcome.ok) continue;
      await outcome.value.media.cancel();
      for (let turn = 0; turn < 200; turn += 1) await setImmediate();
      fails = true;
      await setup.clock.advance(15_000);
    }
    expect(outcomes).toMatchObject([{ ok: true }, { ok: false, reason: "error", error: { status: 403 } }]);
  });
});
