import { abortController, held, onAbort, reasonOf, throwIfAborted } from "./abort-signals.ts";
import { isFunction, isObject, propertyOf } from "./foreign.ts";
import { nextTurn } from "./next-turn.ts";

/** The result of one input: a value if `ok`, otherwise an error, together with the input. */
export type Outcome<Input, Value> =
  | { readonly ok: true; readonly input: Input; readonly value: Value }
  | { readonly ok: false; readonly input: Input; readonly error: unknown };

/** Outcomes without a turn of the event loop. What a storage in memory knows takes none: timers, also of an abort, would wait for all inputs. */
const outcomesPerTurn = 100;

const isAsync = <Input>(inputs: Iterable<Input> | AsyncIterable<Input>): inputs is AsyncIterable<Input> =>
  isFunction(propertyOf(inputs, Symbol.asyncIterator));

/** Works on one input. `left` aborts when the caller no longer waits for the outcome. After a call of `waits`, it no longer counts as busy. */
type Work<Input, Value> = (input: Input, left: AbortSignal, waits: () => void) => Promise<Value>;

/**
 * Runs `work` on the inputs, at most `concurrency` at a time, or `most` including those that only wait. Yields each outcome when it is ready.
 * A failure does not stop the other inputs. Inputs are pulled lazily, so the source may be endless. A slow source never holds back
 * finished outcomes.
 *
 * After an error of the source or an abort, no more inputs are read: the outcomes of started work are yielded, then the reason is thrown. If
 * the caller leaves the loop early, the signals of all work without a yielded outcome are aborted, and the loop ends when that work ends.
 */
export async function* concurrently<Input, Value>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  concurrency: number,
  work: Work<Input, Value>,
  signal?: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Outcome<Input, Value>, void, undefined> {
  const source = isAsync(inputs) ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
  const running = new Map<AbortController, Promise<void>>();
  const finished: { readonly outcome: Outcome<Input, Value>; readonly left: AbortController }[] = [];
  /** The running work, without the work that only waits. */
  let busy = 0;
  let isReading = false;
  let isOver = false;
  /** Whether the source has ended by itself, or failed. Then it is not closed, as in a `for` loop. */
  let hasEnded = false;
  let yielded = 0;
  let turn = nextTurn();
  /** Why the reading stopped early. */
  let failure: { readonly reason: unknown } | undefined;
  /** Continues the loop. `Promise.race` would add a reaction to each long-lived promise on every round. */
  let wake: () => void = () => undefined;

  const start = (input: Input) => {
    const left = abortController();
    let isBusy = true;
    const waits = () => {
      if (isBusy) busy -= 1;
      isBusy = false;
      wake();
    };
    const settle = (outcome: Outcome<Input, Value>) => {
      running.delete(left);
      finished.push({ outcome, left });
      waits();
    };
    busy += 1;
    const done = work(input, left.signal, waits).then(
      (value) => settle({ ok: true, input, value }),
      (error: unknown) => settle({ ok: false, input, error }),
    );
    running.set(left, done);
  };

  const fail = (reason: unknown) => {
    isOver = true;
    failure ??= { reason };
    wake();
  };

  /** The source failed. */
  const failed = (error: unknown) => {
    hasEnded = true;
    fail(error);
  };

  const take = (next: IteratorResult<Input, unknown>) => {
    // As in a `for await` loop: without it, a source of numbers would never end.
    if (!isObject(next)) throw new TypeError("expected an iterator result");
    const { done, value } = next;
    // An input that arrives after the end is ignored.
    if (done) isOver = hasEnded = true;
    else if (!isOver && !signal?.aborted) start(value as Input);
    wake();
  };

  /** Reads the next input. An asynchronous source gives it later. */
  const read = () => {
    try {
      const next = source.next();
      if (!("then" in next)) {
        take(next);
        return;
      }
      isReading = true;
      // The source can give a value that is not an iterator result.
      Promise.resolve(next)
        .finally(() => {
          isReading = false;
        })
        .then(take)
        .catch(failed);
    } catch (error) {
      failed(error);
    }
  };

  const change = async () => {
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    // The listener exists only during the wait: an abandoned loop would never remove it.
    const stopListening = signal?.aborted ? undefined : signal && onAbort(signal, wake);
    await changed;
    stopListening?.();
  };

  try {
    for (;;) {
      for (let next = finished.shift(); next !== undefined; next = finished.shift()) {
        yield next.outcome;
        yielded += 1;
        if (yielded % outcomesPerTurn > 0) continue;
        await turn;
        turn = nextTurn();
      }
      while (!isOver && !isReading && !signal?.aborted && busy < concurrency && running.size < most) read();
      // After the reading, because the source may abort the signal. An abort is thrown also when all inputs have been read.
      if (signal?.aborted) fail(reasonOf(signal));
      if (isOver && running.size === 0) break;
      await change();
    }
    if (failure !== undefined) throw (failure as { readonly reason: unknown }).reason;
  } finally {
    // Finished work, too: its value may hold a resource, such as a download.
    for (const left of [...finished.map((one) => one.left), ...running.keys()]) left.abort();
    try {
      const closed = Promise.resolve(hasEnded ? undefined : source.return?.());
      // A source that is still producing an input handles `return` only after that input, so this does not wait for it.
      if (isReading) closed.catch(() => undefined);
      else await closed;
    } finally {
      // Started work, such as a creation, ends before the loop ends.
      await Promise.all(running.values());
    }
  }
}

/** A limited number of slots for work. */
export class Slots {
  #count: number;
  #free: number;
  readonly #queue = new Set<() => void>();

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  /** Lowers the number of slots. Taken slots stay taken. */
  limit(count: number): void {
    const less = Math.max(0, this.#count - count);
    this.#count -= less;
    this.#free -= less;
  }

  /** Takes a slot when it is free, in the order of the calls. Resolves to the function that releases it; a second call of it does nothing. */
  async take(signal: AbortSignal): Promise<() => void> {
    throwIfAborted(signal);
    if (this.#free > 0) this.#free -= 1;
    else
      await held<void>(signal, (resolve) => {
        this.#queue.add(resolve);
        return () => this.#queue.delete(resolve);
      });
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#free += 1;
      const [next] = this.#queue;
      if (next === undefined || this.#free < 1) return;
      this.#free -= 1;
      this.#queue.delete(next);
      next();
    };
  }
}

/** Runs work with the same name one after the other, and work with different names in parallel. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` after all earlier work with the same name. `wait` waits for the earlier work, whose promise never rejects. If `wait` rejects,
   * this work is skipped, and the other work continues. Default: it waits for as long as the earlier work takes.
   */
  take<T>(
    name: string,
    work: () => Promise<T>,
    wait: (turn: Promise<unknown>) => Promise<unknown> = (turn) => turn,
  ): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : wait(before).then(work);
    // The next work waits for all earlier work, also when this one is skipped. It keeps no result of it.
    const settled = Promise.allSettled([before, mine]).then(() => undefined);
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return mine;
  }
}
