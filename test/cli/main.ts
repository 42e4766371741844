import { vi } from "vitest";
import { main } from "../../src/cli/main.ts";
import { endSignals } from "../../src/cli/program.ts";
import { type Environment, ownVariables } from "./process.ts";

/** Removes the listeners that `run` leaves, which would otherwise end with its process. */
async function withoutListeners<T>(run: () => Promise<T>): Promise<T> {
  const places: readonly (readonly [emitter: NodeJS.EventEmitter, event: string])[] = [
    [process.stdout, "error"],
    ...endSignals.map((signal) => [process, signal] as const),
  ];
  const before = new Set(places.flatMap(([emitter, event]) => emitter.listeners(event)));
  try {
    return await run();
  } finally {
    for (const [emitter, event] of places) {
      const left = emitter.listeners(event).filter((listener) => !before.has(listener));
      for (const listener of left) emitter.off(event, listener as () => void);
    }
  }
}

/** Runs the command line to its end, in this process: for all that needs neither a signal nor the build. */
export async function runMain(args: readonly string[], environment: Environment = {}) {
  const texts = { output: "", errors: "" };
  const collect = (name: keyof typeof texts) => (text: unknown) => {
    texts[name] += String(text);
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(collect("output")),
    vi.spyOn(process.stderr, "write").mockImplementation(collect("errors")),
  ];
  for (const name of ownVariables) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  try {
    return { code: await withoutListeners(() => main(args)), ...texts };
  } finally {
    vi.unstubAllEnvs();
    for (const spy of spies) spy.mockRestore();
  }
}
