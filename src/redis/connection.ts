import type { CeilingLimit } from "../http/pacing/ceiling.ts";
import type { Member } from "../http/pacing/tokens.ts";
import { wordsOf } from "../util/foreign.ts";
import { withTimeout } from "../util/with-timeout.ts";
import type { Script } from "./client.ts";
import { type Ask, type Reply, readReply, readWaits } from "./protocol.ts";

/** Milliseconds after which Redis counts as lost when it does not respond, and between two attempts to reach it again. */
const patience = 500;

const noReply = () => new Error(`no reply within ${patience} ms`);

/** The scripts that Redis runs. */
export interface Scripts {
  readonly pacing: Script;
  readonly ceiling: Script;
  /** The key of the ceiling's slots. */
  readonly ceilingKey: string;
}

/** The connection to Redis. It reports once when Redis is lost, and once when it is back. */
export class RedisConnection {
  readonly #scripts: Scripts;
  readonly #member: Pick<Member, "clock" | "onLost" | "onBack">;
  #state: "untried" | "up" | "lost" = "untried";
  #tryAt = 0;
  #roundTrip = 0;
  /** The latest visit: the server's time, and when the visit began by this process's clock. */
  #latest: { readonly at: number; readonly began: number } | undefined;
  /** Called at once when the storage is lost. */
  onLost: () => void = () => undefined;

  constructor(scripts: Scripts, member: Pick<Member, "clock" | "onLost" | "onBack">) {
    this.#scripts = scripts;
    this.#member = member;
  }

  get lost(): boolean {
    // Before the first visit the client may still be connecting.
    if (this.#state === "up" && !this.#scripts.pacing.ready) this.#lose("the connection is down");
    return this.#state === "lost";
  }

  /** Whether the client's connection is down. Unlike `lost`, it reports nothing: no call needs Redis now. */
  get down(): boolean {
    return !this.#scripts.pacing.ready;
  }

  /** The recent round trip of a visit, in milliseconds. */
  get roundTrip(): number {
    return this.#roundTrip;
  }

  /** Whether the next attempt to reach Redis is due. */
  get mayRetry(): boolean {
    return this.#scripts.pacing.ready && this.#member.clock.now() >= this.#tryAt;
  }

  /** Runs the script; undefined when it failed. */
  async exchange(
    keys: readonly string[],
    ask: Omit<Ask, "returning" | "latest" | "passed">,
  ): Promise<Reply | undefined> {
    const returning = this.#state === "lost";
    const began = this.#member.clock.now();
    const { at, began: before } = this.#latest ?? { at: 0, began };
    const whole = { ...ask, returning, latest: at, passed: began - before } satisfies Ask;
    const reply = await this.#visit(this.#scripts.pacing, keys, whole, readReply);
    if (reply === undefined) return undefined;
    this.#latest = { at: reply.at, began };
    // Redis was lost during this visit. The next one reports its return.
    if (!returning && this.#state === "lost") return undefined;
    if (returning) this.#member.onBack();
    // A client may have its first reply before it reports that it is ready.
    if (returning || this.#scripts.pacing.ready) this.#state = "up";
    return reply;
  }

  /** Reserves slots of the fleet's ceiling; none while Redis cannot be reached. Resolves to the milliseconds until each comes. */
  async reserve(limit: CeilingLimit, slots: number): Promise<readonly number[]> {
    if (this.lost) return [];
    const { ceiling, ceilingKey } = this.#scripts;
    // As many as come during two round trips, so that the distance of Redis does not limit the rate.
    const most = Math.max(1, Math.ceil((2 * this.#roundTrip * limit.perSecond) / 1_000));
    return (await this.#visit(ceiling, [ceilingKey], { ...limit, slots: Math.min(slots, most) }, readWaits)) ?? [];
  }

  /** Runs a script and measures the round trip; undefined when Redis is lost. */
  async #visit<T>(
    script: Script,
    keys: readonly string[],
    ask: object,
    read: (returned: unknown) => T,
  ): Promise<T | undefined> {
    const began = this.#member.clock.now();
    try {
      const run = () => script.run(keys, JSON.stringify(ask));
      const reply = read(await withTimeout(this.#member.clock, patience, noReply, run));
      this.#roundTrip += (this.#member.clock.now() - began - this.#roundTrip) / 4;
      return reply;
    } catch (error) {
      this.#lose(wordsOf(error));
      return undefined;
    }
  }

  #lose(reason: string): void {
    this.#tryAt = this.#member.clock.now() + patience;
    if (this.#state === "lost") return;
    this.#state = "lost";
    this.onLost();
    this.#member.onLost(reason);
  }
}
