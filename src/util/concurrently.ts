/** The result of one input: a value if `ok`, otherwise an error, together with the input. */
export type Outcome<Input, Value> =
  | { readonly ok: true; readonly input: Input; readonly value: Value }
  | { readonly ok: false; readonly input: Input; readonly error: unknown };

/** Why reading stopped: `failed` is false at the end of the source, and true after an error or an abort. */
type Over = { readonly failed: false } | { readonly failed: true; readonly reason: unknown };

/** The running work of one input. `left` is aborted when the caller no longer waits for its outcome. */
interface Running {
  readonly done: Promise<void>;
  readonly left: AbortController;
}

/**
 * Runs `work` on the inputs, at most `concurrency` at a time, and yields each outcome when it is ready. A failure does not stop the
 * other inputs. An input is read only when work on it can start, so the source may be endless. A slow source delays no outcome.
 *
 * An error of the source or an abort stops the reading. The outcomes of started work come first, then the reason is thrown. If the
 * caller leaves the loop early, the signals of all work without a yielded outcome are aborted, and the loop ends when that work ends.
 */
export async function* concurrently<Input, Value>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  concurrency: number,
  work: (input: Input, left: AbortSignal) => Promise<Value>,
  signal?: AbortSignal,
): AsyncGenerator<Outcome<Input, Value>, void, undefined> {
  const source = Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
  const running = new Set<Running>();
  const finished: { readonly outcome: Outcome<Input, Value>; readonly left: AbortController }[] = [];
  let reading = false;
  let over: Over | undefined;
  // `Promise.race` would add a reaction to each long-lived promise on every round.
  let wake: () => void = () => undefined;

  const start = (input: Input) => {
    const left = new AbortController();
    const settle = (outcome: Outcome<Input, Value>) => {
      running.delete(one);
      finished.push({ outcome, left });
      wake();
    };
    const done = work(input, left.signal).then(
      (value) => settle({ ok: true, input, value }),
      (error: unknown) => settle({ ok: false, input, error }),
    );
    const one = { done, left };
    running.add(one);
  };
  const end = (how: Over) => {
    // An abort is thrown also when all inputs have been read. Otherwise the loop would look successful.
    if (over === undefined || !over.failed) over = how;
    wake();
  };
  const fail = (reason: unknown) => end({ failed: true, reason });
  const take = ({ done, value }: IteratorResult<Input, unknown>) => {
    reading = false;
    if (done) end({ failed: false });
    // An input that arrives after the end is ignored.
    else if (over === undefined && !signal?.aborted) start(value as Input);
    wake();
  };
  const read = () => {
    try {
      const next = source.next();
      if (!("then" in next)) return take(next);
      reading = true;
      // The source can give a value that is not an iterator result.
      Promise.resolve(next)
        .then(take)
        .catch((error: unknown) => {
          reading = false;
          fail(error);
        });
    } catch (error) {
      fail(error);
    }
  };

  const onAbort = () => fail(signal?.reason);
  // The listener exists only during the wait: an abandoned loop would never remove it.
  const somethingToHappen = async () => {
    signal?.addEventListener("abort", onAbort, { once: true });
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    signal?.removeEventListener("abort", onAbort);
  };

  try {
    for (;;) {
      for (let next = finished.shift(); next !== undefined; next = finished.shift()) yield next.outcome;
      if (signal?.aborted) onAbort();
      while (over === undefined && !reading && running.size < concurrency) read();
      if (over !== undefined && running.size === 0 && finished.length === 0) break;
      if (finished.length === 0) await somethingToHappen();
    }
    if (over.failed) throw over.reason;
  } finally {
    // Finished work is aborted too: its value may hold a resource, such as a download.
    for (const { left } of [...finished, ...running]) left.abort();
    try {
      const left = Promise.resolve(source.return?.());
      // A source that is still producing an input handles `return` only after that input, so the loop does not wait for it.
      if (reading) left.catch(() => undefined);
      else await left;
    } finally {
      // Started work, such as a creation, ends before the loop ends.
      await Promise.all([...running].map(({ done }) => done));
    }
  }
}
