import type { Rendertokens } from "../../resources/rendertokens/rendertokens.endpoints.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import { nextMonday } from "../core/amsterdam.ts";
import { Problem } from "../core/problem.ts";

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
  // Set at the first use: the first date of a time zone takes 20 ms, which is most of the emulator's start.
  let reset: ReturnType<typeof nextMonday> | undefined;

  /** The reset that ends the week of `used`. */
  const current = () => {
    reset ??= nextMonday(clock.now());
    return reset;
  };

  const refresh = () => {
    if (clock.now() >= current().at) {
      used = 0;
      reset = nextMonday(clock.now());
    }
    return current();
  };

  return {
    spend: (tokens) => {
      const { at, iso } = refresh();
      if (used + tokens > limit) {
        const message = `${limit - used} of ${limit} rendertokens remain, ${tokens} are needed; they reset at ${iso}`;
        throw new Problem("rendertoken_limit_exceeded", message, clock.toWire(at - clock.now()));
      }
      used += tokens;
    },
    state: () => {
      const { iso } = refresh();
      return { used, limit, remaining: limit - used, resets: iso };
    },
    save: () => ({ used, resets: current().at }),
    load: (saved) => {
      used = saved.used;
      reset = nextMonday(saved.resets - 1);
    },
  };
}
