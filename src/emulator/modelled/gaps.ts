import type { Gap } from "./gap.ts";
import { endpointGaps } from "./gaps-of-endpoints.ts";
import { resourceGaps } from "./gaps-of-resources.ts";
import { ruleGaps } from "./gaps-of-rules.ts";

/** Every place where the specification shows nothing and the emulator has to decide, in the order of the specification. */
export const gaps: readonly Gap[] = [...resourceGaps, ...endpointGaps, ...ruleGaps];
