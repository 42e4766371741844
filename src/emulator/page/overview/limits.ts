import type { World } from "../../state/world.ts";
import type { LimitView } from "./view.ts";

/** The rate-limit buckets as they are now. */
export const limitsView = ({ rateLimits, limits }: World): readonly LimitView[] =>
  Object.entries(rateLimits.save()).map(([policy, remaining]) => {
    const { quota, window } = limits[policy as keyof typeof limits];
    return { policy, quota, window, remaining };
  });
