import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { createEventHub, type EventHub } from "../../../src/emulator/page/event-hub.ts";
import type { RequestSummary } from "../../../src/emulator/recorder/request-json.ts";

const summary = (id: number, outcome: RequestSummary["outcome"] = "responded"): RequestSummary => ({
  id,
  time: 0,
  call: "orders.list",
  method: "GET",
  path: "/orders",
  status: 200,
  duration: 1,
  tokens: null,
  fault: null,
  code: null,
  subject: null,
  start: 0,
  outcome,
});

/** Connects a page, and returns a function that reads the events that have arrived since the last call. */
function connect(hub: EventHub<RequestSummary>) {
  const reader = hub.connect().body?.getReader();
  const read = async () => new TextDecoder().decode((await reader?.read())?.value);
  return { read, cancel: () => reader?.cancel() };
}

/** A manual clock that counts every waiting timer, also those that do not keep a process alive. */
function countingClock() {
  const clock = createManualClock();
  let waiting = 0;
  const after: typeof clock.after = (ms, callback) => {
    waiting += 1;
    return clock.after(ms, () => {
      waiting -= 1;
      callback();
    });
  };
  return { ...clock, after, waiting: () => waiting };
}

const same = (entry: RequestSummary) => entry;

const dataOf = (event: string) => JSON.parse(event.slice(event.indexOf("data: ") + 6));

describe("the event stream of the page", () => {
  it("sends what happens within 100 ms as one batch, each request once, then that the state changed", async () => {
    const clock = countingClock();
    const hub = createEventHub(clock, same);
    const { read } = connect(hub);
    expect(await read()).toBe("retry: 1000\n\n");
    hub.requested(summary(1, "open"));
    hub.requested(summary(2));
    hub.changed();
    hub.requested(summary(1));
    await clock.advance(99);
    expect(clock.waiting()).toBe(1);
    await clock.advance(1);
    const batch = await read();
    expect(batch).toMatch(/^event: requests\ndata: .*\n\n$/);
    expect(dataOf(batch)).toEqual({ changed: [summary(1), summary(2)], skipped: 0 });
    expect(await read()).toBe("event: change\ndata: {}\n\n");
  });

  it("sends at most 200 requests a batch, and the number of those that it left out", async () => {
    const clock = countingClock();
    const hub = createEventHub(clock, same);
    const { read } = connect(hub);
    await read();
    for (let id = 1; id <= 1000; id += 1) {
      hub.requested(summary(id, "open"));
      hub.requested(summary(id));
    }
    await clock.advance(100);
    const { changed, skipped } = dataOf(await read());
    expect([changed.length, skipped]).toEqual([200, 800]);
  });

  it("reports a cleared log before the requests that follow", async () => {
    const clock = countingClock();
    const hub = createEventHub(clock, same);
    const { read } = connect(hub);
    await read();
    hub.requested(summary(1));
    hub.cleared();
    hub.requested(summary(2));
    await clock.advance(100);
    expect(await read()).toBe("event: cleared\ndata: {}\n\n");
    expect(dataOf(await read()).changed).toEqual([summary(2)]);
  });

  it("sets no timer while no page is open", async () => {
    const clock = countingClock();
    const hub = createEventHub(clock, same);
    hub.requested(summary(1));
    hub.changed();
    expect(clock.waiting()).toBe(0);
    const { cancel } = connect(hub);
    await cancel();
    hub.changed();
    expect(clock.waiting()).toBe(0);
  });

  it("breaks the stream of a page that does not read, and frees what waits for it", async () => {
    const clock = countingClock();
    const hub = createEventHub(clock, same);
    const { read } = connect(hub);
    const path = `/orders?cursor=${"x".repeat(10_000)}`;
    let batches = 0;
    while (batches < 100) {
      for (let id = 1; id <= 200; id += 1) hub.requested({ ...summary(batches * 200 + id), path });
      if (clock.waiting() === 0) break;
      await clock.advance(100);
      batches += 1;
    }
    expect(batches).toBeLessThan(10);
    await expect(read()).rejects.toThrow("terminated");
  });

  it("ends with its emulator: a page that has read everything sees the end, one that has not a broken stream", async () => {
    const clock = countingClock();
    const hub = createEventHub(clock, same);
    const [current, behind] = [connect(hub), connect(hub)];
    await current.read();
    hub.close();
    expect(await current.read()).toBe("");
    await expect(behind.read()).rejects.toThrow("terminated");
  });

  it("serves at most 64 pages", () => {
    const hub = createEventHub(createManualClock(), same);
    const statuses = Array.from({ length: 65 }, () => hub.connect().status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(64);
    expect(statuses.at(-1)).toBe(503);
  });
});
