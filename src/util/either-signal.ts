type Listener = Parameters<AbortSignal["addEventListener"]>;

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
