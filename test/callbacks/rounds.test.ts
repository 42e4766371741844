import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { createReader, orderFields, settled, createReceiver as withToken } from "./support.ts";

/** Without a token, a callback has arrived when `receive` returns. */
const createReceiver: typeof withToken = (options) => withToken({ token: false, ...options });

/** A client whose responses the test sends, each with the order as it is at that moment. */
function createGatedReader() {
  const gates: PromiseWithResolvers<number>[] = [];
  const partner = createReader(async (reference) => {
    const gate = Promise.withResolvers<number>();
    gates.push(gate);
    return orderFields(reference, await gate.promise);
  });
  const respond = (shippedQuantity: number) => gates.shift()?.resolve(shippedQuantity);
  return { partner, respond };
}

const other = { order_reference_v2: ref("Order", "2") };
const third = { order_reference_v2: ref("Order", "3") };

describe("callbacks of one order", () => {
  it("that arrive before its request is sent share the request, the handler and the response", async () => {
    const { partner, respond } = createGatedReader();
    let handled = 0;
    const { receive } = createReceiver({ partner, concurrency: 1, onOrderUpdated: () => handled++ });
    const first = receive(other);
    const duplicates = [receive(), receive(), receive()];
    await settled();
    respond(1);
    await first;
    await settled();
    respond(1);
    expect((await Promise.all(duplicates)).map(({ status }) => status)).toEqual([204, 204, 204]);
    expect([partner.reads.length, handled]).toEqual([2, 2]);
  });

  it("that arrive after its request was sent share one more request, so that the newest state is handed over", async () => {
    const { partner, respond } = createGatedReader();
    const shipped: unknown[] = [];
    const { receive } = createReceiver({
      partner,
      onOrderUpdated: ({ order }) => shipped.push(order.orderlines[0]?.shippedQuantity),
    });
    const first = receive();
    await settled();
    const later = [receive(), receive(), receive()];
    await settled();
    expect(partner.reads).toHaveLength(1);
    respond(1);
    await first;
    await settled();
    respond(2);
    await Promise.all(later);
    expect(shipped).toEqual([1, 2]);
    expect(partner.reads).toHaveLength(2);
  });

  it("that arrive while its handler runs wait for the handler, then cause another request", async () => {
    const handlers: PromiseWithResolvers<void>[] = [];
    const { receive, reads } = createReceiver({
      onOrderUpdated: () => {
        const handler = Promise.withResolvers<void>();
        handlers.push(handler);
        return handler.promise;
      },
    });
    const first = receive();
    await settled();
    const second = receive();
    await settled();
    expect([reads.length, handlers.length]).toEqual([1, 1]);
    handlers[0]?.resolve();
    expect((await first).status).toBe(204);
    await settled();
    expect([reads.length, handlers.length]).toEqual([2, 2]);
    handlers[1]?.resolve();
    expect((await second).status).toBe(204);
  });

  it("are processed again after a failure of the callbacks before them", async () => {
    let calls = 0;
    const { receive } = createReceiver({
      onOrderUpdated: async () => {
        calls += 1;
        await settled();
        if (calls === 1) throw new Error("failed once");
      },
    });
    const first = receive();
    await settled();
    const second = receive();
    expect([(await first).status, (await second).status]).toEqual([503, 204]);
  });
});

describe("callbacks of several orders", () => {
  it("are processed concurrently, at most `concurrency` at a time, in the order of arrival", async () => {
    const { partner, respond } = createGatedReader();
    const { receive } = createReceiver({ partner, concurrency: 2 });
    const responses = [receive(), receive(other), receive(third)];
    await settled();
    expect(partner.reads.map(([reference]) => reference)).toEqual([ref("Order", "1"), ref("Order", "2")]);
    respond(1);
    await responses[0];
    await settled();
    expect(partner.reads.map(([reference]) => reference)[2]).toBe(ref("Order", "3"));
    respond(1);
    respond(1);
    await Promise.all(responses);
  });

  it("are reported to `onError` when they have waited too long for their turn", async () => {
    const clock = createManualClock();
    const { receive, failures } = createReceiver({
      clock,
      concurrency: 1,
      timeout: 1_000,
      // It ignores its signal, as a handler may.
      onOrderUpdated: () => new Promise<void>((resolve) => void clock.after(5_000, resolve)),
    });
    const responses = [receive(), receive(other)];
    await settled();
    await clock.advance(1_000);
    expect((await responses[1])?.status).toBe(503);
    expect(failures).toContainEqual({
      orderReference: ref("Order", "2"),
      status: 503,
      error: expect.objectContaining({ name: "OrderFollowerError", fault: "busy" }),
    });
    await clock.advance(5_000);
    await Promise.all(responses);
  });

  it("do not wait behind a second round of an order in work", async () => {
    const { partner, respond } = createGatedReader();
    const { receive } = createReceiver({ partner, concurrency: 2 });
    const first = receive();
    await settled();
    const again = receive();
    const second = receive(other);
    await settled();
    expect(partner.reads.map(([reference]) => reference)).toEqual([ref("Order", "1"), ref("Order", "2")]);
    respond(1);
    respond(1);
    await Promise.all([first, second]);
    await settled();
    respond(1);
    expect((await again).status).toBe(204);
  });
});

describe("a burst of callbacks", () => {
  const invented = (number: number) => ({ order_reference_v2: ref("Order", `f${number}`) });

  it("beyond 1,000 that wait or are in work receives a 503 at once", async () => {
    const gate = Promise.withResolvers<void>();
    const { receive, reads } = createReceiver({ onOrderUpdated: () => gate.promise });
    const accepted = Array.from({ length: 1_000 }, (_, number) => receive(invented(number % 500)));
    await settled();
    const beyond = await Promise.all([receive(), receive(invented(1))]);
    expect(beyond.map(({ status }) => status)).toEqual([503, 503]);
    expect(reads).toHaveLength(4);
    gate.resolve();
    expect(new Set((await Promise.all(accepted)).map(({ status }) => status))).toEqual(new Set([204]));
    expect((await receive()).status).toBe(204);
  });

  it("of 2,000 existing orders is not limited", async () => {
    const partner = createReader();
    const { receive } = createReceiver({ partner });
    for (let batch = 0; batch < 4; batch++) {
      const sent = Array.from({ length: 500 }, (_, number) => receive(invented(batch * 500 + number)));
      expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([204]));
    }
    expect(partner.reads).toHaveLength(2_000);
  });
});
