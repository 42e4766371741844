import { createRequire } from "node:module";
import type Axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe finds, by rule, with the first element of each. */
export async function violations(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.addScriptTag({ path: axe });
  // The full results have every element that passed, and are large.
  const { passed, found } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof Axe };
    const { passes, violations } = await axe.run({ resultTypes: ["violations"] });
    const found = violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0]?.html}`);
    return { passed: passes.length, found };
  });
  expect(passed).toBeGreaterThan(10);
  return found;
}
