import type { World } from "../../state/world.ts";
import type { LimitView } from "../view.ts";

/** The rate-limit buckets as they are now. */
export const limitsView = ({ rateLimits, settings }: World): readonly LimitView[] =>
  Object.entries(rateLimits.save()).map(([policy, remaining]) => {
    const { quota, window } = settings.limits[policy as keyof typeof settings.limits];
    return { policy, quota, window, remaining };
  });
