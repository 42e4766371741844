import { ControlError } from "../controls/control-error.ts";
import type { SavedWorld } from "./saved-world.ts";

/** States that were kept under a name. */
export interface Checkpoints {
  readonly names: readonly string[];
  keep(name: string): void;
  /** Goes back to a state. Throws a {@link ControlError} for an unknown name. */
  rewind(name: string): void;
}

/** Makes a list of checkpoints without entries. */
export function createCheckpoints(save: () => SavedWorld, load: (saved: SavedWorld) => void): Checkpoints {
  const kept = new Map<string, SavedWorld>();
  return {
    get names() {
      return [...kept.keys()];
    },
    keep: (name) => void kept.set(name, save()),
    rewind: (name) => {
      const saved = kept.get(name);
      if (saved === undefined) throw new ControlError(`There is no checkpoint named ${name}`);
      load(saved);
    },
  };
}
