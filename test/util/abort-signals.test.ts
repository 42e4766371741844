import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { eitherSignal, onAbort, unlessAborted } from "../../src/util/abort-signals.ts";
import { rejection } from "../support/exchange.ts";

/** The signal of a polyfill that knows no reason. */
function plainSignal({ fails = false } = {}) {
  const listeners = new Set<() => void>();
  const state = { aborted: false, fails };
  const signal = {
    get aborted() {
      return state.aborted;
    },
    reason: undefined,
    addEventListener: (_: string, listener: () => void) => {
      if (state.fails) throw new Error("no listeners");
      listeners.add(listener);
    },
    removeEventListener: (_: string, listener: () => void) => void listeners.delete(listener),
  };
  const abort = () => {
    state.aborted = true;
    for (const listener of listeners) listener();
  };
  return { signal: signal as AbortSignal, state, abort };
}

describe("onAbort", () => {
  it("calls the listener once with the reason when the signal aborts", () => {
    const controller = new AbortController();
    const reasons: unknown[] = [];
    onAbort(controller.signal, (reason) => reasons.push(reason));
    expect(reasons).toEqual([]);
    controller.abort("enough");
    controller.abort("again");
    expect(reasons).toEqual(["enough"]);
  });

  it("calls the listener at once when the signal is aborted, and adds no listener", () => {
    const signal = AbortSignal.abort("before");
    const reasons: unknown[] = [];
    onAbort(signal, (reason) => reasons.push(reason))();
    expect(reasons).toEqual(["before"]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("calls no listener that was removed", () => {
    const controller = new AbortController();
    const reasons: unknown[] = [];
    onAbort(controller.signal, (reason) => reasons.push(reason))();
    controller.abort("enough");
    expect(reasons).toEqual([]);
  });

  it("adds one listener to a signal, whatever waits for it, and removes it when nothing waits", () => {
    const { signal } = new AbortController();
    const nothing = () => undefined;
    const stops = Array.from({ length: 100 }, (_, index) =>
      onAbort(index % 2 ? signal : eitherSignal(signal, new AbortController().signal), nothing),
    );
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    for (const stop of stops) {
      stop();
      stop();
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
    onAbort(signal, nothing);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
  });

  it("calls each listener once, in the order in which they were added, also after one has failed", () => {
    const { signal, abort } = plainSignal();
    const calls: number[] = [];
    const stops: (() => void)[] = [];
    for (const index of [0, 1, 2, 3, 4]) {
      const stop = onAbort(signal, () => {
        calls.push(index);
        // One that is removed meanwhile is not called.
        if (index === 0) stops[3]?.();
        if (index === 1) throw new Error("a listener failed");
      });
      stops.push(stop);
    }
    expect(abort).toThrow("a listener failed");
    abort();
    expect(calls).toEqual([0, 1, 2, 4]);
  });

  it("listens to a signal whose `addEventListener` failed once", () => {
    const { signal, state, abort } = plainSignal({ fails: true });
    const reasons: unknown[] = [];
    const listen = () => onAbort(signal, (reason) => reasons.push(reason));
    expect(listen).toThrow("no listeners");
    state.fails = false;
    listen();
    abort();
    // A signal without a reason.
    expect(reasons).toMatchObject([{ name: "AbortError" }]);
  });

  it("removes the listener from the other signal when one of a combined signal aborts", () => {
    const { signal } = new AbortController();
    const short = new AbortController();
    const reasons: unknown[] = [];
    onAbort(eitherSignal(signal, short.signal), (reason) => reasons.push(reason));
    short.abort("enough");
    expect(reasons).toEqual(["enough"]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("removes the listener from both signals of a combined signal", () => {
    const first = new AbortController().signal;
    const second = new AbortController().signal;
    const stopListening = onAbort(eitherSignal(first, second), () => undefined);
    expect([first, second].map((signal) => getEventListeners(signal, "abort").length)).toEqual([1, 1]);
    stopListening();
    expect([first, second].flatMap((signal) => getEventListeners(signal, "abort"))).toEqual([]);
  });
});

describe("unlessAborted", () => {
  it("rejects with the reason when the signal aborts first", async () => {
    const controller = new AbortController();
    const waiting = rejection(unlessAborted(new Promise(() => undefined), controller.signal));
    controller.abort("enough");
    expect(await waiting).toBe("enough");
  });

  it("resolves with the value of the promise, and leaves no listener", async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
