import { setImmediate } from "node:timers/promises";
import { DeadlineError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { createReader, settled, createReceiver as withToken } from "./support.ts";

const order = (tail: string) => ({ order_reference_v2: ref("Order", tail) });
const never = () => new Promise<never>(() => undefined);

const unhandled: unknown[] = [];
const collect = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => void process.on("unhandledRejection", collect));
afterEach(() => {
  process.off("unhandledRejection", collect);
  expect(unhandled.splice(0)).toEqual([]);
});

/** Without a token, a callback has arrived when `receive` returns. */
function createReceiver(options: Parameters<typeof withToken>[0]) {
  const clock = createManualClock();
  return { clock, ...withToken({ token: false, timeout: 5_000, clock, ...options }) };
}

describe("after `timeout`", () => {
  it("a handler that does not finish gets an aborted signal, and the service a 503", async () => {
    let signal: AbortSignal | undefined;
    const { clock, receive, failures } = createReceiver({
      onOrderUpdated: (update) => {
        signal = update.signal;
        return never();
      },
    });
    const response = receive();
    await clock.advance(4_999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect((await response).status).toBe(503);
    expect(signal?.reason).toBeInstanceOf(DeadlineError);
    expect(failures).toEqual([{ orderReference: ref("Order", "1"), error: signal?.reason, status: 503 }]);
    expect(clock.pending).toBe(0);
  });

  it("bounds the request and the handler together", async () => {
    const read = createReader();
    const gate = Promise.withResolvers<void>();
    const partner = createReader(async (...given) => {
      await gate.promise;
      return read.orders.get(...given);
    });
    const { clock, receive } = createReceiver({ partner, onOrderUpdated: never });
    const response = receive();
    await clock.advance(4_000);
    gate.resolve();
    await clock.advance(999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect((await response).status).toBe(503);
  });

  it("a request that ignores the signal does not start the handler any more", async () => {
    const gate = Promise.withResolvers<never>();
    let handled = 0;
    const partner = createReader(() => gate.promise);
    const { clock, receive, failures } = createReceiver({ partner, onOrderUpdated: () => handled++ });
    const response = receive();
    await clock.advance(5_000);
    expect((await response).status).toBe(503);
    gate.resolve({} as never);
    await settled();
    expect([handled, failures.length]).toEqual([0, 1]);
  });

  it("a late error of the handler is reported, and one that is the signal's reason is not reported again", async () => {
    const late = new RangeError("late");
    const gate = Promise.withResolvers<never>();
    const failing = createReceiver({ onOrderUpdated: () => gate.promise });
    const obeying = createReceiver({
      onOrderUpdated: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    const responses = [failing.receive(), obeying.receive()];
    await failing.clock.advance(5_000);
    await obeying.clock.advance(5_000);
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([503, 503]);
    gate.reject(late);
    await setImmediate();
    expect(failing.failures).toMatchObject([{ error: expect.any(DeadlineError) }, { error: late }]);
    expect(obeying.failures).toHaveLength(1);
  });

  it("the next order starts, also when the handler ignores the signal", async () => {
    const { clock, receive, reads } = createReceiver({ concurrency: 1, onOrderUpdated: never });
    const first = receive(order("1"));
    await clock.advance(3_000);
    const second = receive(order("2"));
    await clock.advance(2_000);
    expect((await first).status).toBe(503);
    expect(reads.map(([reference]) => reference)).toEqual([ref("Order", "1"), ref("Order", "2")]);
    await clock.advance(5_000);
    expect((await second).status).toBe(503);
    expect(clock.pending).toBe(0);
  });
});

describe("a callback that waits for its turn", () => {
  it("receives a 503 after `timeout`, and costs no request", async () => {
    const { clock, receive, reads } = createReceiver({ concurrency: 1, onOrderUpdated: never });
    const responses = [receive(order("1"))];
    await clock.advance(3_000);
    responses.push(receive(order("2")), receive(order("3")), receive(order("3")));
    await clock.advance(5_000);
    expect((await Promise.all([responses[0], ...responses.slice(2)])).map((one) => one?.status)).toEqual([
      503, 503, 503,
    ]);
    await clock.advance(2_000);
    expect((await responses[1])?.status).toBe(503);
    expect(reads.map(([reference]) => reference)).toEqual([ref("Order", "1"), ref("Order", "2")]);
    expect(clock.pending).toBe(0);
  });
});

describe("close", () => {
  it("waits for accepted callbacks, also for those that wait, and refuses new ones with a 503", async () => {
    const handlers: PromiseWithResolvers<void>[] = [];
    const { receiver, receive, clock } = createReceiver({
      concurrency: 1,
      onOrderUpdated: () => {
        const handler = Promise.withResolvers<void>();
        handlers.push(handler);
        return handler.promise;
      },
    });
    const accepted = [receive(order("1")), receive(order("2"))];
    await settled();
    let ended = false;
    const closing = receiver.close().then(() => {
      ended = true;
    });
    expect((await receive(order("3"))).status).toBe(503);
    expect((await receive(order("1"))).status).toBe(503);
    handlers[0]?.resolve();
    await settled();
    expect(ended).toBe(false);
    handlers[1]?.resolve();
    expect((await Promise.all(accepted)).map(({ status }) => status)).toEqual([204, 204]);
    await closing;
    expect(clock.pending).toBe(0);
  });

  it("ends at once without work, and can be called again", async () => {
    const { receiver, receive } = createReceiver({});
    await Promise.all([receiver.close(), receiver.close()]);
    expect((await receive()).status).toBe(503);
  });

  it("ends within twice the `timeout`, whatever the handler does", async () => {
    const { receiver, receive, clock } = createReceiver({ concurrency: 1, onOrderUpdated: never });
    const accepted = [receive(order("1")), receive(order("2")), receive(order("1"))];
    await settled();
    const closing = receiver.close();
    await clock.advance(10_000);
    await closing;
    expect((await Promise.all(accepted)).map(({ status }) => status)).toEqual([503, 503, 503]);
  });
});
