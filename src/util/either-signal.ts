type Listener = Parameters<AbortSignal["addEventListener"]>;

/**
 * A signal that either of two aborts, as far as the SDK listens to one. Unlike what `AbortSignal.any` makes it leaves nothing behind
 * at a signal that lasts: whoever stops listening to it stops listening to both.
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
