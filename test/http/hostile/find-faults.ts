import * as fc from "fast-check";
import { hostileCase } from "./arbitrary.ts";
import type { Case } from "./case.ts";
import { runCase } from "./run-case.ts";

/** A broken promise, and the smallest case that breaks it. */
export interface Failure {
  readonly fault: string;
  readonly plan: Case;
  readonly seed: number;
}

export interface FoundFaults {
  readonly tried: number;
  readonly failures: readonly Failure[];
}

interface Limits {
  readonly seed: number;
  readonly cases: number;
  /** Milliseconds. */
  readonly time?: number;
  readonly onFailure?: (failure: Failure) => void;
}

/** Tries cases until their number or the time is used up. Reports each fault once, with its smallest case. */
export async function findFaults({
  seed,
  cases,
  time = Number.POSITIVE_INFINITY,
  onFailure,
}: Limits): Promise<FoundFaults> {
  const until = performance.now() + time;
  const failures: Failure[] = [];
  let tried = 0;
  for (let round = 0; tried < cases && performance.now() < until; round++) {
    let target: string | undefined;
    let shrinking = false;
    const property = fc.asyncProperty(hostileCase, async (plan) => {
      if (!shrinking) tried += 1;
      const faults = await runCase(plan);
      const fresh = faults.filter((fault) => !failures.some((failure) => failure.fault === fault));
      target ??= fresh[0];
      shrinking = target !== undefined;
      return target === undefined || !fresh.includes(target);
    });
    const left = Math.min(until - performance.now(), 2 ** 31 - 1);
    const numRuns = cases - tried;
    const details = await fc.check(property, { seed: seed + round, numRuns, interruptAfterTimeLimit: left });
    const [plan] = details.counterexample ?? [];
    if (target === undefined || plan === undefined) continue;
    const failure = { fault: target, plan, seed: seed + round };
    failures.push(failure);
    onFailure?.(failure);
  }
  return { tried, failures };
}
