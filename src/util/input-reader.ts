/** Why the reading stopped: `failed` is false at the end of the source, and true after an error or an abort. */
type Over = { readonly failed: false } | { readonly failed: true; readonly reason: unknown };

interface Receiver<Input> {
  /** Receives each input. */
  onInput(input: Input): void;
  /** Is called when another input can be read, or none follows. */
  onChange(): void;
}

/** Reads the inputs of a source one at a time. It never reads ahead, so the source may be endless. */
export class InputReader<Input> {
  readonly #source: Iterator<Input> | AsyncIterator<Input>;
  readonly #signal: AbortSignal | undefined;
  readonly #receiver: Receiver<Input>;
  #reading = false;
  #over: Over | undefined;

  constructor(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    signal: AbortSignal | undefined,
    receiver: Receiver<Input>,
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
