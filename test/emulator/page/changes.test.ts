import { type RunningEmulator, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";

const pathOf = (emulator: RunningEmulator, path: string) => new URL(`/_emulator/${path}`, emulator.baseUrl);

/** Follows the events of the page. `sees` resolves when a text arrives; events can come together or one after the other. */
async function follow(emulator: RunningEmulator) {
  const response = await fetch(pathOf(emulator, "events"));
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  const sees = async (text: string) => {
    while (!seen.includes(text)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`The events ended before ${JSON.stringify(text)}: ${seen}`);
      seen += value;
    }
    seen = "";
  };
  await sees("retry: 1000\n\n");
  return { sees, end: () => reader?.cancel() };
}

describe("a change that a program makes in its own process, without a control or a request, reaches the page", () => {
  it.each<[string, (emulator: RunningEmulator) => unknown]>([
    ["faults.add", ({ faults }) => faults.add({ fault: "stall" })],
    ["faults.clear", ({ faults }) => faults.clear()],
    ["clock.freeze", ({ clock }) => clock.freeze()],
    ["clock.resume", ({ clock }) => clock.resume({ speed: 60 })],
    ["clock.advance", ({ clock }) => clock.advance({ hours: 1 })],
    ["requests.clear", ({ requests }) => requests.clear()],
  ])("%s", async (_name, change) => {
    await using emulator = await startEmulator();
    const events = await follow(emulator);
    await change(emulator);
    await events.sees("event: change\n");
    await events.end();
  });

  it("the removal of a fault", async () => {
    await using emulator = await startEmulator();
    const fault = emulator.faults.add({ fault: "stall" });
    const events = await follow(emulator);
    fault.remove();
    await events.sees("event: change\n");
    await events.end();
  });
});

describe("the state of the page", () => {
  const options = {
    organizations: [
      {
        name: "Other prints",
        keys: [{ secretKey: "key-of-other-prints" }],
        stores: [{ name: "Other shop", legacyCode: "OTHER" }],
        limits: { default: { quota: 20, window: 4000 } },
      },
      { name: "Without stores", keys: [{ secretKey: "key-without-stores" }] },
    ],
    callbackUrl: "http://shop.test/",
    callbacks: { fetch: () => new Response() },
  };

  it("is that of the first organization, or of the one with the name", async () => {
    await using emulator = await startEmulator(options);
    const { orders } = emulator.seed({
      orders: [{ customIdentifier: "demo-1" }, { store: "OTHER", customIdentifier: "other-1" }],
    });
    for (const { reference } of orders) emulator.ship(reference);
    await emulator.callbacks.idle();
    const read = async (query: string) => (await fetch(pathOf(emulator, `state${query}`))).json() as Promise<object>;
    const names = ["Demo Prints", "Other prints", "Without stores"];
    const ofDemo = {
      organization: "Demo Prints",
      organizations: names,
      orders: { total: 1, items: [{ customIdentifier: "demo-1" }] },
      callbacks: { total: 1, items: [{ orderName: "demo-1" }] },
    };
    expect(await read("")).toMatchObject(ofDemo);
    expect(await read("?organization=unknown")).toMatchObject(ofDemo);
    expect(await read("?organization=Other%20prints")).toMatchObject({
      organization: "Other prints",
      organizations: names,
      orders: { total: 1, items: [{ customIdentifier: "other-1" }] },
      callbacks: { total: 1, items: [{ orderName: "other-1" }] },
      limits: [{ policy: "default", quota: 20 }, {}, {}],
      stores: [{ name: "Other shop" }],
    });
    expect(await read("?organization=Without%20stores")).toMatchObject({ stores: [], exampleOrder: null });
  });
});
