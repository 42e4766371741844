import type { Rendertokens } from "../../resources/rendertokens/rendertokens.schema.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { nextMonday } from "../amsterdam.ts";
import { Problem } from "../http/problem.ts";

/** The organization's rendertokens of this week (specification 4.6). */
export interface RendertokenBudget {
  /** Deducts tokens. When too few remain, deducts none and throws `rendertoken_limit_exceeded`. */
  spend(tokens: number): void;
  state(): Rendertokens;
}

export function createRendertokenBudget(clock: PartnerClock, limit: number): RendertokenBudget {
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
        throw new Problem("rendertoken_limit_exceeded", message, reset.at - clock.now());
      }
      used += tokens;
    },
    state: () => {
      refresh();
      return { used, limit, remaining: limit - used, resets: reset.iso };
    },
  };
}
