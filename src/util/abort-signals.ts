type Listener = (reason: unknown) => void;

/** The listeners of the SDK on a signal, and the function that removes its single event listener. */
interface SignalListeners {
  readonly listeners: Set<{ readonly call: Listener }>;
  readonly stop: () => void;
}

/** One event listener for each signal: `addEventListener` is linear in the listeners of a signal, and Node warns of more than ten. */
const waitingFor = new WeakMap<AbortSignal, SignalListeners>();

/** The errors for aborted signals without a reason, as polyfills make them. */
const unnamed = new WeakMap<AbortSignal, unknown>();

const abortError = (): Error => new DOMException("This operation was aborted", "AbortError");

/** The reason of an aborted signal, or an `AbortError` if it has none: the same error each time. */
export function reasonOf(signal: AbortSignal): unknown {
  const { reason } = signal;
  if (reason !== undefined || !signal.aborted) return reason;
  const error = unnamed.get(signal) ?? abortError();
  unnamed.set(signal, error);
  return error;
}

/** Throws the reason of an aborted signal. The signal of a polyfill may lack this method. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal);
}

/** The latest global class, and whether its signals have `reason` and `throwIfAborted`. */
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

/** Makes a controller. Adds `reason` and `throwIfAborted` to a polyfill's signal that lacks them. */
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
export function onAbort(signal: AbortSignal, listener: Listener): () => void {
  if (signal.aborted) {
    listener(reasonOf(signal));
    return () => undefined;
  }
  const waiting = waitingFor.get(signal) ?? listenTo(signal);
  const { listeners, stop } = waiting;
  const entry = { call: listener };
  listeners.add(entry);
  return () => {
    if (!listeners.delete(entry) || listeners.size > 0 || waitingFor.get(signal) !== waiting) return;
    waitingFor.delete(signal);
    stop();
  };
}

function listenTo(signal: AbortSignal): SignalListeners {
  const listeners: SignalListeners["listeners"] = new Set();
  const onEvent = () => {
    // A listener that is added from now on is called at once, or belongs to the next event.
    waitingFor.delete(signal);
    callAll(listeners, reasonOf(signal));
  };
  // It can throw: then the signal has no listeners.
  signal.addEventListener("abort", onEvent, { once: true });
  const waiting = { listeners, stop: () => signal.removeEventListener("abort", onEvent) };
  waitingFor.set(signal, waiting);
  return waiting;
}

/** Calls each listener once, also after one has failed. Throws the first error. */
function callAll(listeners: SignalListeners["listeners"], reason: unknown): void {
  let failure: { readonly error: unknown } | undefined;
  for (const entry of listeners) {
    listeners.delete(entry);
    try {
      entry.call(reason);
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
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
 * `AbortSignal.any`, it leaves nothing on a long-lived signal: removing its listener removes it from both signals.
 */
export function eitherSignal(first: AbortSignal | undefined, second: AbortSignal): AbortSignal {
  if (first === undefined) return second;
  const both = [first, second];
  const aborted = () => both.find((signal) => signal.aborted);
  let stop: () => void = () => undefined;
  const signal = {
    get aborted() {
      return aborted() !== undefined;
    },
    get reason() {
      const ended = aborted();
      return ended && reasonOf(ended);
    },
    // There is at most one listener, that of `onAbort`.
    addEventListener: (_: string, listener: () => void) => {
      const listen = () => {
        stop();
        listener();
      };
      const stops = both.map((one) => onAbort(one, listen));
      stop = () => {
        for (const each of stops) each();
      };
    },
    removeEventListener: (_: string, _listener: () => void) => stop(),
  };
  return signal as AbortSignal;
}

/**
 * Waits until `begin` calls `resolve`, but rejects with the signal's reason as soon as the signal aborts. `begin` returns the function that
 * stops its work in that case.
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
