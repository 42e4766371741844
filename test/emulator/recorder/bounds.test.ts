import { expect, it } from "vitest";
import { setUp } from "../support.ts";

const size = 30_000;
const bytes = 1_000_000;

it("the log keeps its bound of bytes: the oldest requests are removed first", async () => {
  const { emulator, post } = setUp({ requestLog: { bytes } });
  for (let request = 0; request < 100; request += 1) await post("/orders", { order: "a".repeat(size) });
  const { requests } = emulator;
  const kept = requests.reduce((sum, entry) => sum + (entry.request.body?.text?.length ?? 0), 0);
  expect(kept).toBeLessThan(bytes);
  expect(kept).toBeGreaterThan(0.8 * bytes);
  expect([requests[0]?.id, requests.at(-1)?.id]).toEqual([101 - requests.length, 100]);
});

it("the bodies of responses count, too", async () => {
  const { emulator, get } = setUp({ requestLog: { bytes }, seed: { orders: 50 } });
  for (let request = 0; request < 500; request += 1) await get("/orders");
  const { requests } = emulator;
  const kept = requests.reduce((sum, entry) => sum + 2 * (entry.response?.body?.text?.length ?? 0), 0);
  expect(kept).toBeLessThan(bytes);
  expect(kept).toBeGreaterThan(0.5 * bytes);
});

it("images of any number and size need no more than an entry without a body", async () => {
  const { emulator, upload } = setUp({ requestLog: { bytes } });
  const image = new Uint8Array(1_000_000);
  image.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  for (let request = 0; request < 100; request += 1) await upload("/images", image);
  expect(emulator.requests).toHaveLength(100);
  expect(emulator.requests.every(({ request }) => request.body?.size === image.length)).toBe(true);
});

it("a response of any size keeps its start", async () => {
  const { emulator, get } = setUp({ requestLog: { bytes } });
  emulator.faults.add({ fault: "body", body: "b".repeat(5_000_000), type: "text/html" });
  await get("/orders");
  const body = emulator.requests[0]?.response?.body;
  expect(body).toMatchObject({ size: 5_000_000, truncated: true, text: "b".repeat(65_536) });
});

it("a body of many small pieces counts as its bytes do", async () => {
  const { emulator, send } = setUp({ requestLog: { bytes: 200_000 } });
  const pieces = Array.from(`{"order":"${"a".repeat(20_000)}"}`, (character) => new TextEncoder().encode(character));
  const headers = { "Content-Type": "application/json" };
  await send("POST", "/orders", { headers, body: ReadableStream.from(pieces), duplex: "half" } as RequestInit);
  expect(emulator.requests[0]?.request.body).toMatchObject({ size: 20_012, truncated: false });
  expect(emulator.requests[0]?.request.body?.json()).toEqual({ order: "a".repeat(20_000) });
});

it("a request that grows after its removal does not count", async () => {
  const { emulator, send, get } = setUp({ requestLog: { entries: 1, bytes: 50_000 } });
  let finish = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      finish = () => {
        controller.enqueue(new Uint8Array(60_000));
        controller.close();
      };
    },
  });
  const headers = { "Content-Type": "application/json" };
  const first = send("POST", "/orders", { headers, body, duplex: "half" } as RequestInit);
  const [entry] = emulator.requests;
  await get("/stores");
  finish();
  await first;
  expect(entry).toMatchObject({ status: 400, request: { body: { size: 60_000 } } });
  expect(emulator.requests.map(({ path }) => path)).toEqual(["/stores"]);
  await get("/brands");
  expect(emulator.requests.map(({ path }) => path)).toEqual(["/brands"]);
});
