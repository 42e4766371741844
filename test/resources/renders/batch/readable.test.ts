import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collect, setUpBatch, tally } from "./setup.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "pod-partner-readable-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

type Respond = (signal: AbortSignal) => Promise<Response>;

const limited: Respond = async () =>
  Response.json({ code: "rate_limited", message: "later" }, { status: 429, headers: { "retry-after": "40" } });
const stalled: Respond = (signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const statuses = [
  ["is refused for longer than the timeout of a picture", limited],
  ["does not respond at the first attempt", stalled],
] as const;

describe("a picture of renders.batch can be read when the status", () => {
  /** A client whose first request for the status gets this response. Pictures are ready at once. */
  async function begun(respond: Respond) {
    const setup = setUpBatch({ renderDuration: 0 });
    let asked = 0;
    let files = 0;
    const fetch: typeof globalThis.fetch = async (request, init) => {
      if (!(request instanceof Request)) throw new Error("expected a request");
      const isStatus = /^GET .*\/renders\/\w+$/.test(`${request.method} ${request.url}`);
      if (isStatus) asked += 1;
      if (request.url.endsWith("/media")) files += 1;
      return isStatus && asked === 1 ? respond(request.signal) : setup.emulator.fetch(request, init);
    };
    return {
      setup,
      asked: () => asked,
      files: () => files,
      renders: setup.connect({ fetch }).renders,
      pairs: await setup.pairs(2),
    };
  }

  it.each(statuses)("%s", async (_, respond) => {
    const { setup, renders, pairs } = await begun(respond);
    const sizes: number[] = [];
    const expected: unknown[] = [];
    const read = async () => {
      for await (const outcome of renders.batch(pairs)) {
        if (!outcome.ok) throw outcome.error;
        sizes.push((await outcome.value.media.bytes()).length);
        expected.push(outcome.value.render.media?.size);
      }
    };
    await setup.settle(read());
    expect(sizes).toEqual(expected);
    expect(sizes).toHaveLength(2);
  });

  it.each(statuses)("%s, before it is saved", async (_, respond) => {
    const { setup, renders, pairs, asked, files } = await begun(respond);
    const saved = collect(renders.batch(pairs.slice(0, 1), { download: directory }));
    // The clock stands still while the folder is made, and while the picture is written: it is the second request for the file.
    while (asked() === 0) await setImmediate();
    for (let second = 0; second < 600 && files() < 2; second += 1) {
      await setImmediate();
      await setup.clock.advance(1_000);
    }
    expect(tally(await saved)).toEqual({ ok: 1 });
    expect(await readdir(directory)).toHaveLength(1);
    expect(setup.clock.pending).toBe(0);
  });
});

describe("a picture of renders.batch whose response begins late", () => {
  it("can be read by a caller that takes it later", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(4);
    const unread: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (request, init) => {
      const isMedia = request instanceof Request && request.url.endsWith("/media");
      if (isMedia) await new Promise<void>((resolve) => setup.clock.after(25_000, resolve));
      return setup.emulator.fetch(request, init);
    };
    const partner = setup.connect({ fetch, hooks: { onUnreadDownload: (event) => unread.push(event) } });
    let readable = 0;
    const read = async () => {
      for await (const outcome of partner.renders.batch(pairs)) {
        if (!outcome.ok) throw outcome.error;
        // The timeout of 30 s began with the request.
        if ((await outcome.value.media.bytes()).length === outcome.value.render.media?.size) readable += 1;
        await new Promise<void>((resolve) => setup.clock.after(7_000, resolve));
      }
    };
    await setup.settle(read());
    expect([readable, unread]).toEqual([4, []]);
    expect(setup.clock.pending).toBe(0);
  });
});
