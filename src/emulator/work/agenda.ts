import type { WorldClock } from "../clock/emulator-clock.ts";

/** A task that is due at a point in time, in milliseconds since 1970. A task is plain JSON, so that a world can be saved. */
export interface Due<Task> {
  readonly at: number;
  readonly task: Task;
}

/** The pending work of the emulated service. */
export interface Agenda<Task> {
  add(at: number, task: Task): void;
  /** Removes the tasks that match. */
  remove(matches: (task: Task) => boolean): void;
  save(): readonly Due<Task>[];
  /** Replaces all tasks. */
  load(due: readonly Due<Task>[]): void;
}

/** Makes an agenda that runs each task at its time by the clock. Tasks that are due at the same time run in the order of `add`. */
export function createAgenda<Task>(clock: WorldClock, run: (task: Task) => void): Agenda<Task> {
  let entries: Due<Task>[] = [];
  let disarm = () => {};
  /** The number of calls of `load`. */
  let loads = 0;

  const arm = () => {
    disarm();
    disarm = () => {};
    const [next] = entries;
    if (next === undefined) return;
    disarm = clock.at(next.at, () => {
      const later = entries.findIndex(({ at }) => at > next.at);
      const due = entries.splice(0, later < 0 ? entries.length : later);
      const before = loads;
      // A task can replace the state: then the others are those of the old one.
      for (const { task } of due) if (loads === before) run(task);
      arm();
    });
  };

  return {
    add: (at, task) => {
      const position = entries.findLastIndex((entry) => entry.at <= at) + 1;
      entries.splice(position, 0, { at, task });
      if (position === 0) arm();
    },
    remove: (matches) => {
      entries = entries.filter(({ task }) => !matches(task));
      arm();
    },
    save: () => entries,
    load: (due) => {
      loads += 1;
      entries = due.toSorted((one, other) => one.at - other.at);
      arm();
    },
  };
}
