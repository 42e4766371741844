import { EventEmitter } from "node:events";
import { mergeConfig, type ViteUserConfig } from "vitest/config";
import {
  BaseSequencer,
  type PoolOptions,
  type PoolWorker,
  type TestSpecification,
  ThreadsPoolWorker,
} from "vitest/node";
import base from "../../vitest.config.ts";

type Request = Parameters<PoolWorker["send"]>[0];

/** Runs before the thread starts anew, without what the changes before have left in it. */
const runsOfThread = Number(process.env.RUNS_OF_THREAD);
let thread: ThreadsPoolWorker | undefined;
let runs = 0;
let listeners = new EventEmitter();

/** Keeps its thread, and the modules in it, from one change to the next: to load them takes longer than most tests. */
class KeptWorker implements PoolWorker {
  readonly name = "kept";
  readonly #options: PoolOptions;
  #ends = true;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start() {
    listeners = new EventEmitter();
    runs += 1;
    if (thread !== undefined) return;
    runs = 1;
    thread = new ThreadsPoolWorker(this.#options);
    await thread.start();
    for (const event of ["message", "error", "exit"]) {
      thread.on(event, (...values: unknown[]) => listeners.emit(event, ...values));
    }
  }

  send(message: Request) {
    // A thread that is kept takes "start" again: it has the names of the tests to run.
    if (message.type !== "stop" || runs >= runsOfThread) {
      thread?.send(message);
      return;
    }
    this.#ends = false;
    setImmediate(() => listeners.emit("message", { __vitest_worker_response__: true, type: "stopped" }));
  }

  async stop() {
    if (!this.#ends) return;
    const ended = thread;
    thread = undefined;
    await ended?.stop();
  }

  on(event: string, listener: (value: unknown) => void) {
    listeners.on(event, listener);
  }

  off(event: string, listener: (value: unknown) => void) {
    listeners.off(event, listener);
  }

  deserialize(data: unknown) {
    return data;
  }
}

/** Runs first what noticed the change before, then short files. */
class LikelyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = (file: TestSpecification) => {
      const last = this.ctx.cache.getTestSpecificationResult(file);
      return last?.failed ? -1 : (last?.duration ?? 0);
    };
    return files.toSorted((one, other) => order(one) - order(other));
  }
}

const { projects: _, ...shared } = base.test ?? {};

export default mergeConfig(
  { ...base, test: shared } satisfies ViteUserConfig,
  {
    plugins: [
      {
        name: "kept-thread",
        configureVitest({ project }) {
          project.config.pool = "kept";
          project.config.poolRunner = { name: "kept", createPoolWorker: (options) => new KeptWorker(options) };
        },
      },
    ],
    test: {
      isolate: false,
      include: ["test/**/*.test.ts"],
      // A change that makes a test hang costs this time.
      testTimeout: 10_000,
      hookTimeout: 10_000,
      sequence: { sequencer: LikelyFirst },
    },
  } satisfies ViteUserConfig,
);
