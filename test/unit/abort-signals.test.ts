import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { eitherSignal, onAbort, unlessAborted } from "../../src/util/abort-signals.ts";
import { rejection } from "../support/exchange.ts";

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
