/** What became of one input: a value or an error, with the input that it belongs to. */
export type Outcome<Input, Value> =
  | { readonly ok: true; readonly input: Input; readonly value: Value }
  | { readonly ok: false; readonly input: Input; readonly error: unknown };

/** Why no more inputs are read: the source has no more, or it has failed, or nobody wants them. */
type Over = { readonly failed: false } | { readonly failed: true; readonly reason: unknown };

/** What is under way for one input, and the way to tell it that nobody waits for it any more. */
interface Running {
  readonly done: Promise<void>;
  readonly left: AbortController;
}

/**
 * Works on the inputs, `concurrency` at a time, and gives each outcome as it comes. One failure does not stop the others.
 * No more inputs are read than are worked on, so the source may be endless; a slow one holds no outcome back.
 *
 * A source that fails, or an abort, ends the reading. What was begun is told first, then the reason is thrown. Whoever leaves
 * before the end aborts the signal that `work` is given for each input whose outcome was not told, and waits for what it makes of
 * that.
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
  // Not `Promise.race`: it would leave something behind at what lasts, each time.
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
    // An abort is told also when all inputs have been read: an end as any other would be taken for a success.
    if (over === undefined || !over.failed) over = how;
    wake();
  };
  const fail = (reason: unknown) => end({ failed: true, reason });
  const take = ({ done, value }: IteratorResult<Input, unknown>) => {
    reading = false;
    if (done) end({ failed: false });
    // An input that comes after the end belongs to nobody.
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
  // Listens only while it waits: an abandoned loop would never stop listening.
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
    // Those that are done, too: a value that nobody takes may hold something open, such as a download.
    for (const { left } of [...finished, ...running]) left.abort();
    try {
      const left = Promise.resolve(source.return?.());
      // A source that is asked for its next input hears of the end after that one: nobody waits for it.
      if (reading) left.catch(() => undefined);
      else await left;
    } finally {
      // A creation is never left half way: what was begun has ended before the loop has.
      await Promise.all([...running].map(({ done }) => done));
    }
  }
}
