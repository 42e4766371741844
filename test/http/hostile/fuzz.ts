/**
 * `npm run fuzz`: tries random cases of a hostile `fetch` for a minute. Exits with 1 if a promise is broken.
 *
 * `npm run fuzz -- --minutes 10` takes longer; `--seed 7` repeats a run; `--cases 1000` tries that many cases.
 */
import { parseArgs } from "node:util";
import { findFaults } from "./find-faults.ts";
import { toLiteral } from "./literal.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "1" }, seed: { type: "string" }, cases: { type: "string" } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
console.log(`seed ${seed}`);
const { tried, failures } = await findFaults({
  seed,
  cases: Number(values.cases ?? Number.MAX_SAFE_INTEGER),
  time: Number(values.minutes) * 60_000,
  onFailure: ({ fault, plan, seed }) => console.log(`\n${fault} (seed ${seed})\n${toLiteral(plan)}`),
});
console.log(`\n${tried} cases tried, ${failures.length} failures, seed ${seed}`);
process.exit(failures.length > 0 ? 1 : 0);
