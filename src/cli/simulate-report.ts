import type { SimulatedStep, SimulationError, SimulationReport } from "pod-partner/testing";
import { escaped, htmlPage } from "./report-page.ts";
import { counted } from "./terminal.ts";

/** What came of a simulation. */
export interface Simulated {
  readonly version: string;
  /** The module with the program. */
  readonly module: string;
  /** How often a program could begin in a schedule, if the command said so. */
  readonly lives: number | undefined;
  /** How many schedules did not break it. */
  readonly tried: number;
  /** Milliseconds. */
  readonly took: number;
  readonly result: SimulationReport | SimulationError;
}

const style = `
  h2 { font-size: 1.05rem; margin: 2rem 0 .6rem }
  .findings { list-style: none; margin: 1.25rem 0 0; padding: .8rem 1rem; background: var(--surface); border: 1px solid var(--line); border-left: 3px solid var(--bad); border-radius: 8px; color: var(--bad); font-weight: 600; overflow-wrap: anywhere }
  .end { margin: 1.5rem 0 0; overflow-wrap: anywhere }
  .end + .end { margin-top: .3rem; color: var(--muted) }
  .table { overflow: hidden; background: var(--surface); border: 1px solid var(--line); border-radius: 8px }
  table { border-collapse: collapse; width: 100% }
  td { border-top: 1px solid var(--line); padding: .35rem .8rem; vertical-align: top; overflow-wrap: anywhere }
  tr:first-child td { border-top: 0 }
  td:first-child { width: 6.5rem; text-align: right; white-space: nowrap; color: var(--muted); font-variant-numeric: tabular-nums }
  td:nth-child(2) { font: 12.5px/1.65 var(--mono) }
  td:last-child { width: 11rem; font: 12.5px/1.65 var(--mono); color: var(--muted) }
  .inner td:nth-child(2) { padding-left: 2.4rem }
  .struck td { background: color-mix(in srgb, var(--bad) 7%, transparent) }
  .struck b { display: block; color: var(--bad); font: 600 14px/1.5 system-ui, sans-serif }
  .note td:nth-child(2), .call td:nth-child(2) { font-family: system-ui, sans-serif; color: var(--muted) }
  .failure td:nth-child(2) { font-family: system-ui, sans-serif; color: var(--bad) }
  .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 12px }
  .card { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; color: var(--muted) }
  .card b { display: block; font-size: 1.7rem; line-height: 1.2; font-weight: 600; color: var(--text); font-variant-numeric: tabular-nums }
  .storage { color: var(--muted) }
  main:not(:has(#storage:checked)) .storage { display: none }
  label { display: inline-block; margin: 1.25rem 0 0; color: var(--muted); cursor: pointer }
  pre { margin: .6rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; padding: .8rem; font: 12.5px/1.5 var(--mono); background: var(--sunken); border: 1px solid var(--line); border-radius: 8px }
  @media (max-width: 40rem) { td { padding: .35rem .5rem } td:first-child { width: 4.5rem } td:last-child { width: 4.5rem } }`;

function rowOf({ at, kind, call, text, events, result }: SimulatedStep): string {
  const struck = events.map((event) => `<b>✗ ${escaped(event.text)}</b>`).join("");
  const isInner = call !== undefined && kind !== "call" && kind !== "failure";
  const names = [events.length > 0 ? "struck" : kind, isInner ? "inner" : ""];
  const response = result === undefined || result === "done" ? "" : escaped(result);
  return `<tr class="${names.join(" ").trim()}"><td>${(at / 1_000).toFixed(2)} s</td><td>${escaped(text)}${struck}</td><td>${response}</td></tr>`;
}

/** The command that plays a schedule again, with as many lives. */
export const replayOf = ({ module, lives }: Pick<Simulated, "module" | "lives">, replay: string): string =>
  `npx pod-partner simulate ${module} ${lives === undefined ? "" : `--lives ${lives} `}--replay "${replay}"`;

/** What broke it. */
function breakOf(simulated: Simulated, { findings, trace, made, pages, replay }: SimulationError): string {
  const lives = [...Map.groupBy(trace, ({ program, life }) => `${program}, life ${life}`)].map(
    ([name, steps]) =>
      `<h2>${escaped(name)}</h2><div class="table"><table>\n${steps.map(rowOf).join("\n")}\n</table></div>`,
  );
  const usesStorage = trace.some(({ kind, events }) => kind === "storage" && events.length === 0);
  return `<ul class="findings">${findings.map(({ text }) => `<li>${escaped(text)}</li>`).join("")}</ul>
${usesStorage ? '<label><input type="checkbox" id="storage"> Show what the storage did</label>' : ""}
${lives.join("\n")}
<p class="end">In the end, the service had ${escaped(made)}.</p>
<p class="end">Read ${pages.map((page) => `<code>${escaped(page)}</code>`).join(", ")}</p>
<h2>Replay it</h2>
<pre>${escaped(replayOf(simulated, replay))}</pre>`;
}

const titles = ["It breaks without a fault", "One event breaks it", "Two events break it", "Three events break it"];

const titleOf = ({ events }: SimulationError["schedule"]): string =>
  titles[events.length] ?? `${events.length} events break it`;

/** The report as one HTML page. */
export function toHtml(simulated: Simulated): string {
  const { version, module, tried, took, result } = simulated;
  const isBroken = result instanceof Error;
  const { seed } = isBroken ? result.schedule : result;
  // A replay tries no other one.
  const foundAfter =
    isBroken && tried > 0 ? `found after ${counted(tried, "schedule")}` : counted(tried || 1, "schedule");
  const facts = `<p class="facts"><code>${escaped(module)}</code>, ${foundAfter} in ${(took / 1_000).toFixed(1)} s, pod-partner ${escaped(version)}, seed ${seed}.</p>`;
  if (isBroken) return htmlPage("simulate", titleOf(result.schedule), style, facts + breakOf(simulated, result));
  const { request, storage, database, callback } = result.operations;
  const cards = [
    ["requests", request],
    ["operations of the storage", storage],
    ["operations of the database", database],
    ["callbacks", callback],
  ].map(([name, count]) => `<div class="card"><b>${count}</b>${name}</div>`);
  const body = `<h2>What faults and kills struck</h2><div class="cards">${cards.join("")}</div>`;
  return htmlPage("simulate", "It survives", style, facts + body);
}
