import { inspect } from "node:util";
import type { Case } from "./case.ts";

/** A case as it can be pasted into `regressions.test.ts`. */
export function toLiteral(plan: Case): string {
  const plain: unknown = JSON.parse(JSON.stringify(plan));
  return inspect(plain, { depth: null, breakLength: 110, maxStringLength: null, maxArrayLength: null });
}
