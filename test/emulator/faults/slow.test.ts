import { type RunningEmulator, startEmulator } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { setUp } from "../support.ts";

/** A response in progress, and the bytes of its body so far. */
async function reading(response: Response) {
  const seen = { text: "", end: undefined as unknown };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) seen.text += decoder.decode(piece, { stream: true });
  };
  void read().then(
    () => {
      seen.end = "done";
    },
    (error: unknown) => {
      seen.end = error;
    },
  );
  return seen;
}

describe("the timing of a fault", () => {
  const ask = ({ emulator }: ReturnType<typeof setUp>, signal?: AbortSignal) =>
    emulator.fetch(`${emulator.baseUrl}/stores`, {
      headers: { "X-Service-Secret-Key": emulator.secretKey },
      signal: signal ?? null,
    });

  it("slow headers come after their delay on the emulator's clock", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ fault: "slow", ms: 1_000 });
    let status: number | undefined;
    void ask(bench).then((response) => {
      status = response.status;
    });
    await bench.clock.advance(999);
    expect(status).toBeUndefined();
    await bench.clock.advance(1);
    expect([status, bench.clock.pending]).toEqual([200, 0]);
  });

  it("slow headers end with the request, and leave no timer", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ fault: "slow", ms: 1_000 });
    const client = new AbortController();
    const response = ask(bench, client.signal);
    await bench.clock.advance(1);
    client.abort(new Error("enough"));
    await expect(response).rejects.toThrow("enough");
    expect(bench.clock.pending).toBe(0);
  });

  it("a stalled body sends its first half and nothing more, until the request is aborted", async () => {
    const bench = setUp();
    const whole = await (await ask(bench)).text();
    bench.emulator.faults.add({ fault: "stall" });
    const client = new AbortController();
    const seen = await reading(await ask(bench, client.signal));
    await bench.clock.advance(3_600_000);
    expect(seen).toEqual({ text: whole.slice(0, Math.floor(whole.length / 2)), end: undefined });
    client.abort(new Error("enough"));
    await bench.clock.advance(0);
    expect(seen.end).toEqual(new Error("enough"));
  });

  it("a trickling body sends byte after byte to its end", async () => {
    const bench = setUp();
    const whole = await (await ask(bench)).text();
    bench.emulator.faults.add({ fault: "trickle", ms: 10 });
    const seen = await reading(await ask(bench));
    await bench.clock.advance(20);
    expect(seen.text).toBe(whole.slice(0, 3));
    await bench.clock.advance(10 * whole.length);
    expect([seen, bench.clock.pending]).toEqual([{ text: whole, end: "done" }, 0]);
  });

  it("a trickling body that is no longer read leaves no timer", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ fault: "trickle", ms: 10 });
    const { body } = await ask(bench);
    expect(bench.clock.pending).toBe(1);
    await body?.cancel();
    expect(bench.clock.pending).toBe(0);
  });

  it("a truncated body sends its first half and fails", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ fault: "truncate" });
    const seen = await reading(await ask(bench));
    await bench.clock.advance(0);
    expect(seen.text).not.toBe("");
    expect(seen.end).toMatchObject({ name: "TypeError", message: "terminated", cause: { code: "UND_ERR_SOCKET" } });
  });

  it("an empty body cannot stall, trickle or be truncated", async () => {
    const bench = setUp();
    for (const fault of [{ fault: "stall" }, { fault: "trickle", ms: 10 }, { fault: "truncate" }] as const) {
      bench.emulator.faults.add({ nth: 1, ...fault });
      const response = await bench.emulator.fetch(`${bench.emulator.baseUrl}/stores`);
      expect(response.status).toBe(401);
      await response.body?.cancel();
    }
  });
});

describe("a fault over a real port", () => {
  let emulator: RunningEmulator;
  const ask = () => fetch(`${emulator.baseUrl}/stores`, { headers: { "X-Service-Secret-Key": emulator.secretKey } });
  beforeEach(async () => {
    emulator = await startEmulator();
  });
  afterEach(() => emulator.close());

  it("a dropped connection resets the socket", async () => {
    emulator.faults.add({ fault: "drop", nth: 1 });
    const error = await rejection(ask());
    expect(error).toMatchObject({ name: "TypeError", cause: { code: "ECONNRESET" } });
    expect((await ask()).status).toBe(200);
  });

  it("a truncated body has its headers and half of its bytes", async () => {
    emulator.faults.add({ fault: "truncate", nth: 1 });
    const response = await ask();
    expect(response.status).toBe(200);
    const error = await rejection(response.text());
    expect(error).toMatchObject({ name: "TypeError", message: "terminated" });
  });

  it("a stalled body does not keep the server from closing", async () => {
    emulator.faults.add({ fault: "stall" });
    const response = await ask();
    const text = response.text();
    void text.catch(() => undefined);
    await emulator.close();
    await expect(text).rejects.toThrow("terminated");
  });
});
