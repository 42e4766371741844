/** What became of one input: a value or an error, with the input that it belongs to. */
export type Outcome<Input, Value> =
  | { readonly ok: true; readonly input: Input; readonly value: Value }
  | { readonly ok: false; readonly input: Input; readonly error: unknown };

/**
 * Works on the inputs, `concurrency` at a time, and gives each outcome as it comes. One failure does not stop the others.
 * No more inputs are read than are worked on, so the source may be endless.
 */
export async function* concurrently<Input, Value>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  concurrency: number,
  work: (input: Input) => Promise<Value>,
): AsyncGenerator<Outcome<Input, Value>, void, undefined> {
  const source = Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
  const running = new Set<Promise<Outcome<Input, Value>>>();
  const finished: Outcome<Input, Value>[] = [];

  const start = (input: Input) => {
    const outcome = work(input).then(
      (value) => ({ ok: true, input, value }) as const,
      (error: unknown) => ({ ok: false, input, error }) as const,
    );
    running.add(outcome);
    void outcome.then((done) => {
      running.delete(outcome);
      finished.push(done);
    });
  };

  try {
    for (let more = true; more || running.size > 0; ) {
      while (more && running.size < concurrency) {
        const { done, value } = await source.next();
        if (done) more = false;
        else start(value);
      }
      if (running.size > 0) await Promise.race(running);
      for (let done = finished.shift(); done !== undefined; done = finished.shift()) yield done;
    }
  } finally {
    await source.return?.();
    // What was begun is finished: a creation is never left half way.
    await Promise.allSettled(running);
  }
}
