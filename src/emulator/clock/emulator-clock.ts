import { dateOf, keepProcess, type PartnerClock } from "../../util/clock.ts";
import { ControlError } from "../base/control-error.ts";
import { type Duration, latestTime, type PointInTime, spanOf, toMilliseconds } from "./point-in-time.ts";
import { SkippingClock } from "./skipping-clock.ts";
import { settle, Timers } from "./timers.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** The state of a clock in a saved world. */
export interface SavedClock {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly speed: number;
}

/** Moves of a clock, which run one after the other. */
class Moves {
  readonly #pending = new Set<(error: Error) => void>();
  #last: Promise<void> = Promise.resolve();
  #started = 0;
  #current = 0;

  /** The number of the move that runs; 0 while none runs. */
  get current(): number {
    return this.#current;
  }

  /** Runs a move after those before it. Once `isCurrent` returns false, the move must change nothing any more. */
  run(move: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#pending.add(reject);
    const isCurrent = () => this.#pending.has(reject);
    this.#last = this.#last
      .then(() => (isCurrent() ? this.#begin(() => move(isCurrent)) : undefined))
      .then(resolve, reject)
      .finally(() => this.#pending.delete(reject));
    return promise;
  }

  /** Ends all moves at once: their promises reject with the error. */
  end(error: Error): void {
    for (const reject of this.#pending) reject(error);
    this.#pending.clear();
    this.#last = Promise.resolve();
    this.#current = 0;
  }

  async #begin(move: () => Promise<void>): Promise<void> {
    this.#started += 1;
    const number = this.#started;
    this.#current = number;
    try {
      await move();
    } finally {
      if (this.#current === number) this.#current = 0;
    }
  }
}

/** The time in the emulated service: of orders, renders, claims, callbacks and the weekly reset of rendertokens. */
export interface EmulatorClock extends PartnerClock {
  /** How fast the time passes: 1 like the clock of the options, 60 for an hour a minute, 0 while it is frozen. */
  readonly speed: number;
  /**
   * Moves the time forward. Everything that becomes due happens at its own time, callbacks included, before the promise resolves.
   *
   * @param span Milliseconds, or an object such as `{ days: 3 }`.
   * @throws RangeError for a negative span, and for a time after the year 9999. {@link ControlError} when `load`, `reset` or `rewind`
   * replaces the state meanwhile.
   */
  advance(span: number | Duration): Promise<void>;
  /** Moves the time forward to a point in time, as `advance` does. Throws a `RangeError` for an earlier time. */
  set(time: PointInTime): Promise<void>;
  /** Stops the time. Rate limits and slow faults still go by the clock of the options. */
  freeze(): void;
  /** Lets the time pass. Default speed 1. Throws a `RangeError` for a speed that is not above 0. */
  resume(options?: { readonly speed?: number }): void;
}

/** The clock with what the emulator itself needs. */
export interface WorldClock extends EmulatorClock {
  /**
   * The time of the connection: of rate limits, `Retry-After` and slow faults. Clients wait for these by their own clock, so the speed
   * does not change it. `advance` and `set` move it, too.
   */
  readonly wire: PartnerClock;
  /** The moves of `advance` and `set`. */
  readonly moves: Pick<Moves, "current">;
  /** Converts a span of emulated time to the time that a client waits for it. */
  toWire(ms: number): number;
  /** Calls `callback` at a point in time. It does not keep the process alive. Returns a function that cancels the call. */
  at(time: number, callback: () => void): () => void;
  /** `advance` waits for this work before it moves the time further. */
  track(work: Promise<unknown>): void;
  save(): SavedClock;
  /** Sets the time, also to an earlier one. */
  load(saved: SavedClock): void;
}

/** Milliseconds. */
const rounding = 0.001;
/** Milliseconds by which the machine's clock must move against the base clock to count as set: the two always drift a little. */
const smallestStep = 1_000;

class Clock implements WorldClock {
  readonly #base: PartnerClock;
  readonly #onChange: () => void;
  readonly #timers = new Timers();
  readonly #work = new Set<Promise<unknown>>();
  #speed = 1;
  /** The emulated time at the time `#at` of the base clock. */
  #time: number;
  #at: number;
  /** How far the machine's clock is ahead of the base clock, which measures durations. */
  #ahead: number;
  /** The sum of all moves of `advance` and `set`. */
  #moved = 0;
  #disarm = () => {};
  readonly moves = new Moves();
  readonly wire: PartnerClock;

  constructor(base: PartnerClock, onChange: () => void) {
    this.#base = base;
    this.#onChange = onChange;
    this.#time = dateOf(base);
    this.#at = base.now();
    this.#ahead = this.#time - this.#at;
    this.wire = {
      now: () => base.now() + this.#moved,
      after: (ms, callback) => {
        // A simulation stops its time for a request, which now waits for it.
        if (base instanceof VirtualClock) base.release();
        return base.after(ms, callback);
      },
    };
  }

  get speed(): number {
    return this.#speed;
  }

  now = (): number => {
    this.#follow();
    return this.#speed === 0
      ? this.#time
      : Math.min(this.#time + (this.#base.now() - this.#at) * this.#speed, latestTime);
  };

  toWire = (ms: number): number => (this.#speed === 0 ? ms : ms / this.#speed);

  after = (ms: number, callback: () => void) => this.#add(this.now() + Math.max(ms, 0), callback, true);

  at = (time: number, callback: () => void) => this.#add(time, callback, false);

  advance = async (span: number | Duration): Promise<void> => {
    const ms = spanOf(span);
    if (!(ms >= 0)) throw new RangeError(`The clock cannot move by ${ms} milliseconds: give 0 or more`);
    await this.#moveTo(() => this.now() + ms);
  };

  set = async (time: PointInTime): Promise<void> => {
    const until = toMilliseconds(time);
    if (until < this.now()) throw new RangeError("The clock cannot move backwards");
    await this.#moveTo(() => until);
  };

  freeze = (): void => this.#run(this.now(), 0);

  resume = ({ speed = 1 }: { readonly speed?: number } = {}): void => {
    if (!(speed > 0 && Number.isFinite(speed))) throw new RangeError(`The speed must be above 0; got ${speed}`);
    this.#run(this.now(), speed);
  };

  track = (work: Promise<unknown>): void => {
    if (this.#base instanceof SkippingClock) this.#base.track(work);
    this.#work.add(work);
    const done = () => void this.#work.delete(work);
    work.then(done, done);
  };

  save = (): SavedClock => ({ time: this.now(), speed: this.#speed });

  load = ({ time, speed }: SavedClock): void => {
    this.moves.end(new ControlError("The state of the emulator was replaced while the clock moved"));
    this.#work.clear();
    this.#timers.shift(time - this.now());
    this.#run(time, speed);
  };

  /** Moves the time with the machine's clock when that was set, or when the machine was suspended. What is pending ends no later. */
  #follow(): void {
    const step = dateOf(this.#base) - this.#base.now() - this.#ahead;
    if (Math.abs(step) < smallestStep) return;
    this.#ahead += step;
    if (this.#speed === 0) return;
    this.#time += step;
    if (step < 0) this.#timers.shift(step);
    this.#arm();
  }

  #run(time: number, speed: number): void {
    this.#time = time;
    this.#at = this.#base.now();
    this.#speed = speed;
    this.#arm();
    this.#onChange();
  }

  #add(due: number, callback: () => void, foreground: boolean): () => void {
    const cancel = this.#timers.add(due, callback, foreground);
    this.#arm();
    return () => {
      cancel();
      this.#arm();
    };
  }

  /** Sets a timer of the base clock for the next timer of this clock. */
  #arm(): void {
    this.#disarm();
    this.#disarm = () => {};
    const due = this.#timers.next();
    if (due === undefined || due > latestTime) return;
    const wait = Math.max(due - this.now(), 0);
    // What is due now happens also while the clock is frozen.
    if (wait > 0 && this.#speed === 0) return;
    this.#disarm = this.#base.after(this.#speed === 0 ? 0 : wait / this.#speed, () => this.#fire());
    keepProcess(this.#disarm, this.#timers.foreground > 0);
  }

  #fire(): void {
    // A timer is due a little early where the sum of two times was rounded.
    const now = this.now() + rounding * this.#speed;
    for (let timer = this.#timers.take(now); timer !== undefined; timer = this.#timers.take(now)) timer.callback();
    this.#arm();
  }

  /** Moves run one after the other. */
  #moveTo(target: () => number): Promise<void> {
    return this.moves.run((isCurrent) => {
      const until = target();
      if (until > latestTime) throw new RangeError("The clock cannot move beyond the year 9999");
      return this.#move(until, isCurrent);
    });
  }

  async #move(until: number, isCurrent: () => boolean): Promise<void> {
    await this.#settle();
    const next = () => (isCurrent() ? this.#timers.take(until) : undefined);
    for (let timer = next(); timer !== undefined; timer = next()) {
      this.#jump(timer.due);
      timer.callback();
      await this.#settle();
    }
    if (!isCurrent()) return;
    this.#jump(until);
    await settle();
  }

  /** Waits until the tracked work ends, including work that begins during the wait. */
  async #settle(): Promise<void> {
    await settle();
    while (this.#work.size > 0) {
      await Promise.allSettled(this.#work);
      await settle();
    }
  }

  #jump(time: number): void {
    const by = time - this.now();
    if (by <= 0) return;
    this.#moved += by;
    this.#run(time, this.#speed);
  }
}

/** Makes a clock that begins at the time of `base` and passes at its speed. Calls `onChange` when it is moved, frozen or resumed. */
export const createEmulatorClock = (base: PartnerClock, onChange: () => void): WorldClock => new Clock(base, onChange);
