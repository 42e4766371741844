import { held, onAbort } from "./abort-signals.ts";

/** Why the reading stopped: `failed` is false at the end of the source, and true after an error or an abort. */
type Over = { readonly failed: false } | { readonly failed: true; readonly reason: unknown };

interface RowReceiver<Input> {
  /** Receives each input. */
  onInput(input: Input): void;
  /** Is called when another input can be read, or none follows. */
  onChange(): void;
}

/** Reads the inputs of a source one at a time. It never reads ahead, so the source may be endless. */
class InputReader<Input> {
  readonly #source: Iterator<Input> | AsyncIterator<Input>;
  readonly #signal: AbortSignal | undefined;
  readonly #receiver: RowReceiver<Input>;
  #reading = false;
  #over: Over | undefined;

  constructor(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    signal: AbortSignal | undefined,
    receiver: RowReceiver<Input>,
  ) {
    this.#source = Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
    this.#signal = signal;
    this.#receiver = receiver;
  }

  /** Whether another input can be read now. */
  get ready(): boolean {
    return this.#over === undefined && !this.#reading;
  }

  /** Whether no input follows. */
  get over(): boolean {
    return this.#over !== undefined;
  }

  /** Reads the next input. An asynchronous source gives it later. */
  read(): void {
    try {
      const next = this.#source.next();
      if (!("then" in next)) {
        this.#take(next);
        return;
      }
      this.#reading = true;
      // The source can give a value that is not an iterator result.
      Promise.resolve(next)
        .then((result) => this.#take(result))
        .catch((error: unknown) => {
          this.#reading = false;
          this.fail(error);
        });
    } catch (error) {
      this.fail(error);
    }
  }

  /** Stops the reading with a reason. */
  fail(reason: unknown): void {
    this.#end({ failed: true, reason });
  }

  /** Throws the reason if the reading failed. */
  check(): void {
    if (this.#over?.failed) throw this.#over.reason;
  }

  /** Closes the source. */
  async close(): Promise<void> {
    const closed = Promise.resolve(this.#source.return?.());
    // A source that is still producing an input handles `return` only after that input, so this does not wait for it.
    if (this.#reading) closed.catch(() => undefined);
    else await closed;
  }

  #take({ done, value }: IteratorResult<Input, unknown>): void {
    this.#reading = false;
    if (done) this.#end({ failed: false });
    // An input that arrives after the end is ignored.
    else if (this.#over === undefined && !this.#signal?.aborted) this.#receiver.onInput(value as Input);
    this.#receiver.onChange();
  }

  #end(how: Over): void {
    // Once only: a loop whose signal stays aborted would wake itself for ever, and block the event loop.
    if (this.#over?.failed) return;
    // An abort is thrown also when all inputs have been read. Otherwise the loop would look successful.
    this.#over = how;
    this.#receiver.onChange();
  }
}

/** The result of one input: a value if `ok`, otherwise an error, together with the input. */
export type Outcome<Input, Value> =
  | { readonly ok: true; readonly input: Input; readonly value: Value }
  | { readonly ok: false; readonly input: Input; readonly error: unknown };

/**
 * Works on one input. `left` aborts when the caller no longer waits for the outcome. After a call of `waits`, the work only waits: it no
 * longer counts against the concurrency.
 */
type Work<Input, Value> = (input: Input, left: AbortSignal, waits: () => void) => Promise<Value>;

/** The started work: what is running, and the outcomes that were not yielded yet. */
class StartedWork<Input, Value> {
  readonly #work: Work<Input, Value>;
  readonly #onChange: () => void;
  /** The work that is running, and the controllers that abort it when the caller no longer waits for its outcome. */
  readonly #running = new Map<AbortController, Promise<void>>();
  #busy = 0;
  readonly #finished: { readonly outcome: Outcome<Input, Value>; readonly left: AbortController }[] = [];

  constructor(work: Work<Input, Value>, onChange: () => void) {
    this.#work = work;
    this.#onChange = onChange;
  }

  get running(): number {
    return this.#running.size;
  }

  /** The running work, without the work that only waits. */
  get busy(): number {
    return this.#busy;
  }

  get hasOutcome(): boolean {
    return this.#finished.length > 0;
  }

  start(input: Input): void {
    const left = new AbortController();
    let busy = true;
    const waits = () => {
      if (busy) this.#busy -= 1;
      busy = false;
    };
    const settle = (outcome: Outcome<Input, Value>) => {
      waits();
      this.#running.delete(left);
      this.#finished.push({ outcome, left });
      this.#onChange();
    };
    this.#busy += 1;
    const onWaits = () => {
      waits();
      this.#onChange();
    };
    const done = this.#work(input, left.signal, onWaits).then(
      (value) => settle({ ok: true, input, value }),
      (error: unknown) => settle({ ok: false, input, error }),
    );
    this.#running.set(left, done);
  }

  /** Takes the oldest outcome; undefined if none is ready. */
  take(): Outcome<Input, Value> | undefined {
    return this.#finished.shift()?.outcome;
  }

  /** Aborts all work whose outcome was not yielded. Finished work too: its value may hold a resource, such as a download. */
  abort(): void {
    for (const left of [...this.#finished.map((one) => one.left), ...this.#running.keys()]) left.abort();
  }

  /** Waits until no work is running. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

/**
 * Runs `work` on the inputs, at most `concurrency` at a time and `most` with those that only wait, and yields each outcome when it is ready. A failure does not stop the
 * other inputs. An input is read only when work on it can start, so the source may be endless. A slow source delays no outcome.
 *
 * An error of the source or an abort stops the reading. The outcomes of started work come first, then the reason is thrown. If the
 * caller leaves the loop early, the signals of all work without a yielded outcome are aborted, and the loop ends when that work ends.
 */
export async function* concurrently<Input, Value>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  concurrency: number,
  work: Work<Input, Value>,
  signal?: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Outcome<Input, Value>, void, undefined> {
  // `Promise.race` would add a reaction to each long-lived promise on every round.
  let wake: () => void = () => undefined;
  const onChange = () => wake();
  const started = new StartedWork(work, onChange);
  const reader = new InputReader<Input>(inputs, signal, { onInput: (input) => started.start(input), onChange });
  const change = async () => {
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    // The listener exists only during the wait: an abandoned loop would never remove it.
    const stopListening = signal && onAbort(signal, (reason) => reader.fail(reason));
    await changed;
    stopListening?.();
  };
  try {
    for (;;) {
      for (let outcome = started.take(); outcome !== undefined; outcome = started.take()) yield outcome;
      const mayRead = () => !signal?.aborted && started.busy < concurrency && started.running < most;
      while (reader.ready && mayRead()) reader.read();
      // After the reading, because the source may abort the signal.
      if (signal?.aborted) reader.fail(signal.reason);
      if (reader.over && started.running === 0 && !started.hasOutcome) break;
      if (!started.hasOutcome) await change();
    }
    reader.check();
  } finally {
    started.abort();
    try {
      await reader.close();
    } finally {
      // Started work, such as a creation, ends before the loop ends.
      await started.ended();
    }
  }
}

/** A number of places, for work that may only be done a few at a time. */
export class Slots {
  #free: number;
  readonly #queue = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a place, after those who came before. Resolves to the function that gives it back; a second call of it does nothing. */
  async take(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw signal.reason;
    if (this.#free > 0) this.#free -= 1;
    else
      await held<void>(signal, (resolve) => {
        this.#queue.add(resolve);
        return () => this.#queue.delete(resolve);
      });
    let taken = true;
    return () => {
      if (taken) this.#giveBack();
      taken = false;
    };
  }

  #giveBack(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}

/** Runs work with the same key one after the other, and work with different keys in parallel. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` after all earlier work with the same key. `wait` waits for a promise of the earlier work, which never rejects. If `wait`
   * rejects, this work is skipped, and the other work continues.
   */
  take<T>(name: string, work: () => Promise<T>, wait: (turn: Promise<unknown>) => Promise<unknown>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : wait(before).then(work);
    // The next work waits for all earlier work, also when this one is skipped.
    const settled = Promise.allSettled([before, mine]);
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return mine;
  }
}
