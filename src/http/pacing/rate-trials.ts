/**
 * A trial sends this many requests at `faster` times the rate. A gateway's limit refuses at least `refusals` of them. The first trial comes
 * `ms` milliseconds after the limit was assumed, and each one that fails doubles this time, up to `longest`.
 */
const trial = { requests: 24, faster: 2, refusals: 5, ms: 5_000, longest: 60_000 };

/** A trial: when it began, when the first request after it was sent, and what is known of its requests. */
interface RunningTrial {
  readonly began: number;
  ended: number;
  unsent: number;
  unknown: number;
  refused: number;
}

/** What a trial shows: the rate is the limit, or refusals come at any rate. */
export type Verdict = "limit" | "no limit";

/**
 * Tests from time to time whether an assumed limit of a gateway exists. A service that refuses a few requests at random looks like a
 * limit, whatever the rate; but a limit refuses about half of all requests at twice its rate.
 */
export class RateTrials {
  #delay = trial.ms;
  #dueAt = Number.POSITIVE_INFINITY;
  #running: RunningTrial | undefined;

  /** A limit is assumed from now on. */
  assume(now: number): void {
    this.#conclude(now, trial.ms);
  }

  /** How much faster the next request may be sent. */
  get speed(): number {
    return (this.#running?.unsent ?? 0) > 0 ? trial.faster : 1;
  }

  /** A request is sent at the full rate. Begins a trial when one is due. */
  send(now: number): void {
    // A request that hangs keeps a trial open.
    if (this.#running !== undefined && now - this.#running.began > trial.longest) this.#conclude(now, this.#delay);
    if (this.#running === undefined && now >= this.#dueAt) {
      const { requests } = trial;
      this.#running = { began: now, ended: Number.POSITIVE_INFINITY, unsent: requests, unknown: requests, refused: 0 };
    }
    if (this.#running === undefined) return;
    if (this.#running.unsent > 0) this.#running.unsent -= 1;
    else this.#running.ended = Math.min(this.#running.ended, now);
  }

  /** Whether a request belongs to the running trial. */
  tests(sentAt: number): boolean {
    return this.#running !== undefined && sentAt >= this.#running.began && sentAt < this.#running.ended;
  }

  /** A request of the trial has ended. Returns what the trial shows, as soon as that is certain. */
  end(refused: boolean, now: number): Verdict | undefined {
    const running = this.#running;
    if (running === undefined) return undefined;
    running.unknown -= 1;
    if (refused) running.refused += 1;
    if (running.refused >= trial.refusals) {
      this.#conclude(now, Math.min(trial.longest, 2 * this.#delay));
      return "limit";
    }
    if (running.unknown > 0) return undefined;
    // The next trial, at once, shows whether the rate can be doubled again.
    this.#conclude(now, trial.ms, now);
    return "no limit";
  }

  #conclude(now: number, delay: number, dueAt = now + delay): void {
    this.#running = undefined;
    this.#delay = delay;
    this.#dueAt = dueAt;
  }
}
