import type { Observe } from "../http/call/observer.ts";
import type { PartnerClock } from "../util/clock.ts";
import type { Script } from "./client.ts";
import { type Ask, type Reply, readReply } from "./protocol.ts";

/** Milliseconds after which Redis is taken for lost when it does not answer, and from one try to reach it again to the next. */
const patience = 500;

/** The way to the store: tells when it is lost and when it is back, once each. */
export class RedisConnection {
  readonly #script: Script;
  readonly #clock: PartnerClock;
  readonly #observe: Observe;
  #state: "untried" | "up" | "lost" = "untried";
  #tryAt = 0;
  #way = 0;
  /** The latest visit: the server's time then, and when it set out by this process's clock. */
  #latest: { readonly at: number; readonly setOut: number } | undefined;
  /** Called at once when the store is lost. */
  onLost: () => void = () => undefined;

  constructor(script: Script, clock: PartnerClock, observe: Observe) {
    this.#script = script;
    this.#clock = clock;
    this.#observe = observe;
  }

  get lost(): boolean {
    // At first the connection may still be on its way up.
    if (this.#state === "up" && !this.#script.ready) this.#lose("the connection is down");
    return this.#state === "lost";
  }

  /** Milliseconds that a visit takes there and back, as of late. */
  get way(): number {
    return this.#way;
  }

  /** Whether it is time to try again. */
  get worthATry(): boolean {
    return this.#script.ready && this.#clock.now() >= this.#tryAt;
  }

  /** Runs the script; undefined when that failed. */
  async exchange(
    keys: readonly string[],
    ask: Omit<Ask, "returning" | "latest" | "passed">,
  ): Promise<Reply | undefined> {
    const returning = this.#state === "lost";
    const setOut = this.#clock.now();
    try {
      const { at, setOut: before } = this.#latest ?? { at: 0, setOut };
      const text = JSON.stringify({ ...ask, returning, latest: at, passed: setOut - before } satisfies Ask);
      const reply = readReply(await this.#inTime(this.#script.run(keys, text)));
      this.#latest = { at: reply.at, setOut };
      this.#way += (this.#clock.now() - setOut - this.#way) / 4;
      // Lost meanwhile: it comes back by a visit that says so.
      if (!returning && this.#state === "lost") return undefined;
      if (returning) this.#observe("onStoreBack", {});
      // A client may have its first answer before it takes itself for ready.
      if (returning || this.#script.ready) this.#state = "up";
      return reply;
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #lose(reason: string): void {
    this.#tryAt = this.#clock.now() + patience;
    if (this.#state === "lost") return;
    this.#state = "lost";
    this.onLost();
    this.#observe("onStoreLost", { reason });
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const late = () => reject(new Error(`no answer within ${patience} ms`));
      const stop = this.#clock.after(patience, late);
      answer.then(resolve, reject).finally(stop);
    });
  }
}
