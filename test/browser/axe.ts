import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe finds, by rule, with the first element of each. */
export async function violations(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.addScriptTag({ path: axe });
  const results = (await page.evaluate("axe.run()")) as AxeResults;
  expect(results.passes.length).toBeGreaterThan(10);
  return results.violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0]?.html}`);
}
