import type { Rendertokens } from "../../resources/rendertokens/rendertokens.schema.ts";
import { nextMonday } from "../amsterdam.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import { Problem } from "../http/problem.ts";

/** The organization's rendertokens of this week (specification 4.6). */
export interface RendertokenBudget {
  /** Deducts tokens. When too few remain, deducts none and throws `rendertoken_limit_exceeded`. */
  spend(tokens: number): void;
  state(): Rendertokens;
  save(): SavedRendertokens;
  load(saved: SavedRendertokens): void;
}

/** The rendertokens in a saved world. */
export interface SavedRendertokens {
  readonly used: number;
  /** The time of the next reset, in milliseconds since 1970. */
  readonly resets: number;
}

export function createRendertokenBudget(clock: WorldClock, limit: number): RendertokenBudget {
  let used = 0;
  let reset = nextMonday(clock.now());

  const refresh = () => {
    if (clock.now() < reset.at) return;
    used = 0;
    reset = nextMonday(clock.now());
  };

  return {
    spend: (tokens) => {
      refresh();
      if (used + tokens > limit) {
        const message = `${limit - used} of ${limit} rendertokens remain, ${tokens} are needed; they reset at ${reset.iso}`;
        throw new Problem("rendertoken_limit_exceeded", message, clock.toWire(reset.at - clock.now()));
      }
      used += tokens;
    },
    state: () => {
      refresh();
      return { used, limit, remaining: limit - used, resets: reset.iso };
    },
    save: () => ({ used, resets: reset.at }),
    load: (saved) => {
      used = saved.used;
      reset = nextMonday(saved.resets - 1);
    },
  };
}
