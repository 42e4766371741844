type Listener = Parameters<AbortSignal["addEventListener"]>;

/**
 * Calls `listener` with the reason when the signal aborts, or at once if it is aborted. Returns a function that removes the listener.
 * Call that function when the work ends, so that a long-lived signal collects no listeners.
 */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  const listen = () => listener(signal.reason);
  if (signal.aborted) {
    listen();
    return () => undefined;
  }
  signal.addEventListener("abort", listen, { once: true });
  return () => signal.removeEventListener("abort", listen);
}

/** Waits for a promise, but rejects with the signal's reason as soon as the signal aborts. The promise itself continues. */
export function unlessAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, reject);
    Promise.resolve(promise).finally(stopListening).then(resolve, reject);
  });
}

/**
 * Combines two signals into one that aborts when either aborts. It has only the parts of a signal that the SDK uses. Unlike
 * `AbortSignal.any`, it adds nothing to a long-lived signal: removing a listener removes it from both signals.
 */
export function eitherSignal(first: AbortSignal | undefined, second: AbortSignal): AbortSignal {
  if (first === undefined) return second;
  const both = [first, second];
  const aborted = () => both.find((signal) => signal.aborted);
  const signal = {
    get aborted() {
      return aborted() !== undefined;
    },
    get reason() {
      return aborted()?.reason;
    },
    addEventListener: (...listener: Listener) => {
      for (const one of both) one.addEventListener(...listener);
    },
    removeEventListener: (...listener: Listener) => {
      for (const one of both) one.removeEventListener(...listener);
    },
  };
  return signal as AbortSignal;
}

/**
 * Waits until `begin` calls its function, but rejects with the signal's reason as soon as the signal aborts. `begin` returns what stops its
 * work then.
 */
export function held<T>(signal: AbortSignal, begin: (resolve: (value: T) => void) => () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw signal.reason;
    let stop: () => void = () => undefined;
    const stopListening = onAbort(signal, (reason) => {
      stop();
      reject(reason);
    });
    stop = begin((value) => {
      stopListening();
      resolve(value);
    });
  });
}

/**
 * A signal that any number of calls at the same time can use. It listens to the caller's own signal once, while at least one of them
 * listens: Node 22 warns of more than ten listeners. Like {@link eitherSignal}, it has only the parts of a signal that the SDK uses.
 */
export function sharedSignal(signal: AbortSignal): AbortSignal {
  const listeners = new Set<() => void>();
  let stopListening: () => void = () => undefined;
  const shared = {
    get aborted() {
      return signal.aborted;
    },
    get reason() {
      return signal.reason;
    },
    addEventListener: (_: string, listener: () => void) => {
      listeners.add(listener);
      if (listeners.size > 1) return;
      stopListening = onAbort(signal, () => {
        for (const each of [...listeners]) each();
      });
    },
    removeEventListener: (_: string, listener: () => void) => {
      if (listeners.delete(listener) && listeners.size === 0) stopListening();
    },
  };
  return shared as AbortSignal;
}
