const signals = ["SIGINT", "SIGTERM"] as const;

/** Resolves at the first signal to end the program. A second signal has its default effect: it ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of signals) process.off(signal, stop);
      resolve();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
