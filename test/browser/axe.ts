import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Runs in the page: the results have every element that passed, and are large. */
const run = `axe.run({ resultTypes: ["violations"] }).then(({ passes, violations }) => ({
  passed: passes.length,
  found: violations.map(({ id, impact, nodes }) => id + " (" + impact + "): " + nodes[0].html),
}))`;

/** What axe finds, by rule, with the first element of each. */
export async function violations(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.addScriptTag({ path: axe });
  const { passed, found } = (await page.evaluate(run)) as { passed: number; found: readonly string[] };
  expect(passed).toBeGreaterThan(10);
  return found;
}
