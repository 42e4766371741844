import { ControlError } from "../core/control-error.ts";
import type { SavedWorld } from "./saved-world.ts";

/** States that were kept under a name. */
export interface Checkpoints {
  readonly names: readonly string[];
  /** Throws a {@link ControlError} when there are too many. */
  keep(name: string): void;
  /** Goes back to a state. Throws a {@link ControlError} for an unknown name. */
  rewind(name: string): void;
}

/** Each is a copy of the whole state. */
const most = 256;

/** Makes a list of checkpoints without entries. */
export function createCheckpoints(save: () => SavedWorld, load: (saved: SavedWorld) => void): Checkpoints {
  const kept = new Map<string, SavedWorld>();
  return {
    get names() {
      return [...kept.keys()];
    },
    keep: (name) => {
      if (kept.size >= most && !kept.has(name))
        throw new ControlError(`There are ${most} checkpoints: use a name again`);
      kept.set(name, save());
    },
    rewind: (name) => {
      const saved = kept.get(name);
      if (saved === undefined) throw new ControlError(`There is no checkpoint named ${name}`);
      load(saved);
    },
  };
}
