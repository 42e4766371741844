type Listener = Parameters<AbortSignal["addEventListener"]>;

/** The errors of aborted signals without a reason, as a polyfill makes them. */
const unnamed = new WeakMap<AbortSignal, unknown>();

const abortError = (): Error => new DOMException("This operation was aborted", "AbortError");

/** Why a signal aborted: its reason, or an `AbortError` if it has none, the same one each time. */
export function reasonOf(signal: AbortSignal): unknown {
  const { reason } = signal;
  if (reason !== undefined || !signal.aborted) return reason;
  const error = unnamed.get(signal) ?? abortError();
  unnamed.set(signal, error);
  return error;
}

/** Throws the reason of an aborted signal. A polyfill's signal lacks this method. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal);
}

/** The global class that was tried last, and whether its signals have the reason that they are aborted with. */
let tried: { readonly Controller: typeof AbortController; readonly isComplete: boolean } | undefined;

function isComplete(Controller: typeof AbortController): boolean {
  if (tried?.Controller !== Controller) {
    const controller = new Controller();
    controller.abort(Controller);
    const { signal } = controller;
    tried = { Controller, isComplete: signal.reason === Controller && "throwIfAborted" in signal };
  }
  return tried.isComplete;
}

/** Makes a controller. Where a polyfill's signals lack the reason, they get it. */
export function abortController(): AbortController {
  const controller = new AbortController();
  if (isComplete(AbortController)) return controller;
  const { signal } = controller;
  const abort = controller.abort.bind(controller);
  let because: unknown;
  Object.defineProperties(signal, {
    reason: { get: () => because },
    throwIfAborted: { value: () => throwIfAborted(signal) },
  });
  return Object.defineProperty(controller, "abort", {
    value: (reason: unknown = abortError()) => {
      because ??= reason;
      abort(reason);
    },
  });
}

/**
 * Calls `listener` with the reason when the signal aborts, or at once if it is aborted. Returns a function that removes the listener.
 * Call that function when the work ends, so that a long-lived signal collects no listeners.
 */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  const listen = () => listener(reasonOf(signal));
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
      const ended = aborted();
      return ended && reasonOf(ended);
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
    throwIfAborted(signal);
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
      return reasonOf(signal);
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
