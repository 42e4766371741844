import { setImmediate } from "node:timers/promises";

interface Timer {
  due: number;
  /** Of two that are due at the same time, the one that was added first comes first. */
  readonly order: number;
  /** Whether it waits for a span, not for a point in time. */
  readonly isWait: boolean;
  readonly callback: () => void;
  /** Whether a caller waits for it. It is false for the emulator's own tasks. */
  foreground: boolean;
}

/** Lets promises settle: the first turn of the event loop runs what is scheduled, the second what the first one schedules. */
export async function settle(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Timers by the time at which they are due. Tens of thousands can wait: what is added or taken costs the logarithm of their number. */
export class Timers {
  readonly #timers = new Set<Timer>();
  /** A heap: each comes before the two at twice its place. It also has timers that were canceled. */
  #heap: Timer[] = [];
  #added = 0;

  /** The number of timers that a caller waits for. */
  get foreground(): number {
    let count = 0;
    for (const timer of this.#timers) if (timer.foreground) count += 1;
    return count;
  }

  /** Adds a timer. Returns a function that cancels it. `keepProcess` sets whether a caller waits for it, as with the system clock. */
  add(due: number, callback: () => void, foreground = true): () => void {
    this.#added += 1;
    const timer = { due, order: this.#added, callback, foreground, isWait: foreground };
    this.#timers.add(timer);
    if (this.#heap.length > 64 + 2 * this.#timers.size) this.#sort();
    else this.#rise(timer);
    const cancel = () => void this.#timers.delete(timer);
    cancel.keep = (alive: boolean) => {
      timer.foreground = alive;
    };
    return cancel;
  }

  /** Moves the waits of callers, when the time is set: what remains of each stays the same. */
  shift(by: number): void {
    for (const timer of this.#timers) if (timer.isWait) timer.due += by;
    this.#sort();
  }

  /** The time of the next timer; undefined without a timer. */
  next(): number | undefined {
    return this.#first()?.due;
  }

  /** The time of the next timer that a caller waits for; undefined without one. */
  nextAwaited(): number | undefined {
    let next: number | undefined;
    for (const { due, foreground } of this.#timers) if (foreground && due < (next ?? Infinity)) next = due;
    return next;
  }

  /** Removes the next timer that is due by `until`, and returns it. */
  take(until: number): Timer | undefined {
    const timer = this.#first();
    if (timer === undefined || timer.due > until) return undefined;
    this.#timers.delete(timer);
    return timer;
  }

  #first(): Timer | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || this.#timers.has(first)) return first;
      this.#removeFirst();
    }
  }

  /** A sorted row is a heap. */
  #sort(): void {
    this.#heap = [...this.#timers].sort(byTime);
  }

  /** Adds a timer at the end of the heap, and moves it before those that come later. */
  #rise(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    for (let above = (at - 1) >> 1; at > 0; above = (at - 1) >> 1) {
      const other = heap[above];
      if (other === undefined || byTime(other, timer) < 0) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = timer;
  }

  /** Removes the first timer. The last one moves to its place, and behind those that come earlier. */
  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    for (let at = 0; ; ) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const isRight = left !== undefined && right !== undefined && byTime(right, left) < 0;
      const next = isRight ? right : left;
      if (next === undefined || byTime(last, next) < 0) {
        heap[at] = last;
        return;
      }
      heap[at] = next;
      at = 2 * at + (isRight ? 2 : 1);
    }
  }
}

const byTime = (one: Timer, other: Timer): number => one.due - other.due || one.order - other.order;
