import { setImmediate } from "node:timers/promises";
import { PodPartner, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { concurrently, type Outcome } from "../../src/util/concurrency.ts";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";

const succeed = async (input: number) => input;

/** Iterates until the end, or until a failure. */
async function drain<Value>(outcomes: AsyncIterable<Outcome<number, Value>>) {
  const seen: number[] = [];
  try {
    for await (const { ok, input } of outcomes) seen.push(ok ? input : -input);
    return { seen };
  } catch (error) {
    return { seen, error };
  }
}

/** A signal that throws when it is read again and again: a loop that never waits would stop the test run. */
function countingSignal() {
  const controller = new AbortController();
  let reads = 0;
  const signal = new Proxy(controller.signal, {
    get: (target, name) => {
      if (name === "aborted" && ++reads > 100) throw new Error("the loop never waits");
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { signal, abort: (reason: unknown) => controller.abort(reason) };
}

describe("concurrently()", () => {
  it("completes work in progress when the source fails while it is closed", async () => {
    let finished = 0;
    let given = 0;
    const source: Iterable<number> = {
      [Symbol.iterator]: () => ({
        next: () => ({ done: false, value: given++ }),
        return: () => {
          throw new RangeError("the source is gone");
        },
      }),
    };
    const work = async (input: number, left: AbortSignal) => {
      // The second item is in progress until the loop is left, and a little longer.
      if (input > 0) {
        await new Promise((resolve) => left.addEventListener("abort", resolve));
        await setImmediate();
      }
      finished += 1;
      return input;
    };
    const loop = async () => {
      for await (const _ of concurrently(source, 2, work)) break;
    };
    expect(await rejection(loop())).toBeInstanceOf(RangeError);
    expect(finished).toBe(2);
  });

  it("reads only the inputs that it works on, and completes work in progress when the loop is left", async () => {
    let read = 0;
    let finished = 0;
    function* endless() {
      for (;;) yield read++;
    }
    const work = async (input: number) => {
      await Promise.resolve();
      finished += 1;
      return input;
    };
    for await (const outcome of concurrently(endless(), 3, work)) {
      expect(outcome).toEqual({ ok: true, input: 0, value: 0 });
      break;
    }
    expect(read).toBe(3);
    expect(finished).toBe(3);
  });

  it("yields the outcomes of work in progress, then the error of the source", async () => {
    async function* source() {
      yield 1;
      yield 2;
      throw new Error("the database is gone");
    }
    const slow = async (input: number) => {
      await setImmediate();
      return input;
    };
    expect(await drain(concurrently(source(), 8, slow))).toEqual({
      seen: [1, 2],
      error: new Error("the database is gone"),
    });
  });

  it("does the same when the source throws synchronously", async () => {
    const source = {
      [Symbol.iterator]: () => {
        let left = 2;
        return {
          next: () => {
            if (left === 0) throw new Error("broken");
            return { done: false as const, value: left-- };
          },
          // As in a `for` loop, a source that failed is not closed.
          return: () => {
            throw new Error("closed after it failed");
          },
        };
      },
    };
    expect(await drain(concurrently(source, 8, succeed))).toEqual({ seen: [2, 1], error: new Error("broken") });
  });

  it.each([5, "5", true, null, undefined, Symbol("5")])(
    "does the same when the next input is %s, as a `for await` loop does",
    async (next) => {
      const source = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(next as never) }) };
      expect(await drain(concurrently(source, 8, succeed))).toEqual({ seen: [], error: expect.any(TypeError) });
    },
  );

  it("does not delay an outcome when the source is slow", async () => {
    const gate = Promise.withResolvers<void>();
    async function* source() {
      yield 1;
      await gate.promise;
      yield 2;
    }
    const outcomes = concurrently(source(), 8, succeed)[Symbol.asyncIterator]();
    expect(await outcomes.next()).toMatchObject({ value: { ok: true, input: 1 } });
    gate.resolve();
    expect(await outcomes.next()).toMatchObject({ value: { ok: true, input: 2 } });
    expect(await outcomes.next()).toMatchObject({ done: true });
  });

  it("ends at once when the loop is left while the source reads its next input", async () => {
    async function* source() {
      yield 1;
      await new Promise(() => undefined);
    }
    const seen: number[] = [];
    for await (const { input } of concurrently(source(), 8, succeed)) {
      seen.push(input);
      break;
    }
    expect(seen).toEqual([1]);
  });

  it("ends with the signal's reason after work in progress, and stops reading an endless source", async () => {
    const abort = new AbortController();
    let read = 0;
    function* endless() {
      for (;;) yield ++read;
    }
    const work = async (input: number) => {
      if (input === 3) abort.abort("enough");
      if (abort.signal.aborted) throw abort.signal.reason;
      return input;
    };
    const { seen, error } = await drain(concurrently(endless(), 1, work, abort.signal));
    expect([seen, error, read]).toEqual([[1, 2, -3], "enough", 3]);
  });

  it("ends with the signal's reason while it waits for a source that yields nothing", async () => {
    const abort = new AbortController();
    async function* source(): AsyncGenerator<number> {
      await new Promise(() => undefined);
      yield 1;
    }
    const outcomes = drain(concurrently(source(), 8, succeed, abort.signal));
    await Promise.resolve();
    abort.abort("enough");
    expect(await outcomes).toEqual({ seen: [], error: "enough" });
  });

  it("ends with the signal's reason when the source aborts the signal and gives nothing", async () => {
    const abort = new AbortController();
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          abort.abort("enough");
          return new Promise<never>(() => undefined);
        },
      }),
    };
    const outcomes = drain(concurrently(source, 8, succeed, abort.signal));
    const late = setImmediate().then(() => setImmediate("still waiting"));
    expect(await Promise.race([outcomes, late])).toEqual({ seen: [], error: "enough" });
  });

  it("ends with the signal's reason when the source has no more inputs", async () => {
    const abort = new AbortController();
    const work = async (input: number) => {
      await setImmediate();
      abort.abort("enough");
      return input;
    };
    expect(await drain(concurrently([1], 8, work, abort.signal))).toEqual({ seen: [1], error: "enough" });
  });

  it("waits for work that continues after an abort, and does not block the process", async () => {
    const { signal, ...abort } = countingSignal();
    const work = async (input: number) => {
      await setImmediate();
      abort.abort("enough");
      await setImmediate();
      return input;
    };
    expect(await drain(concurrently([1], 8, work, signal))).toEqual({ seen: [1], error: "enough" });
  });

  it("notifies only the work whose outcome nothing reads, in progress or completed", async () => {
    const reported: number[] = [];
    const work = async (input: number, left: AbortSignal) => {
      left.addEventListener("abort", () => reported.push(input));
      if (input === 3) await new Promise<void>((resolve) => left.addEventListener("abort", () => resolve()));
      return input;
    };
    for await (const { input } of concurrently([1, 2, 3], 3, work)) {
      expect(input).toBe(1);
      break;
    }
    expect(reported).toEqual([2, 3]);
  });

  it("reads nothing when the signal is already aborted", async () => {
    let read = 0;
    function* source() {
      for (;;) yield ++read;
    }
    expect(await drain(concurrently(source(), 8, succeed, AbortSignal.abort("before")))).toEqual({
      seen: [],
      error: "before",
    });
    expect(read).toBe(0);
  });
});

describe("the option `concurrency`", () => {
  it.each([0, -1, Number.NaN])("throws for %d, and does not wait forever", async (concurrency) => {
    const partner = new PodPartner({ baseUrl: "http://127.0.0.1:9/v2", secretKey });
    const iterate = async (many: () => AsyncIterable<unknown>) => {
      for await (const _ of many());
    };
    for (const many of [
      () => partner.orders.ensureMany([], { concurrency }),
      () => partner.renders.batch([], { concurrency }),
    ]) {
      const error = await rejection(iterate(many));
      expect(error).toBeInstanceOf(RequestValidationError);
      expect(error).toMatchObject({ issues: [{ path: ["concurrency"] }] });
    }
  });
});
