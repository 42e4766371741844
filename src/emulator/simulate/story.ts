import type { SimulatedStep, SimulationFinding } from "./error.ts";
import { describe, lineOf } from "./schedule.ts";
import type { PlayedRun } from "./simulation.ts";

/** The page that helps, for each kind of finding. */
const pages: Readonly<Record<SimulationFinding["kind"], string>> = {
  doubled: "exactly-once.md",
  missing: "orders.md",
  different: "orders.md",
  render: "renders.md",
  handled: "callbacks.md",
  unfinished: "errors.md",
  failed: "errors.md",
  check: "simulate.md",
};

const time = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`.padStart(11);

/** What a step shows: its own result, and each fault that struck it. */
function linesOf({ at, text, events, result }: SimulatedStep): readonly string[] {
  const line = `${time(at)}  ${text}${result === undefined || result === "done" ? "" : `  → ${result}`}`;
  return [line, ...events.map((event) => `${" ".repeat(13)}✗ ${describe(event)}`)];
}

/** Steps of a storage tell little, unless a fault strikes them. */
const isShown = ({ point = "", events }: SimulatedStep): boolean => !point.startsWith("s") || events.length > 0;

/** The most steps of a life that are shown: the first ones and the last ones, and all that a fault struck. */
const shown = { first: 8, last: 12 };

function lifeOf(steps: readonly SimulatedStep[]): readonly string[] {
  const isKept = (step: SimulatedStep, index: number) =>
    index < shown.first || index >= steps.length - shown.last || step.events.length > 0;
  const kept = steps.filter(isKept);
  const lines = kept.flatMap((step) => linesOf(step));
  const left = steps.length - kept.length;
  return left === 0 ? lines : [...lines, `${" ".repeat(13)}(${left} more)`];
}

/** Tells a run: what each life did, what struck it, and what the service had in the end. */
export function storyOf(run: PlayedRun, findings: readonly SimulationFinding[]): string {
  const lives = Map.groupBy(run.trace.filter(isShown), ({ program, life }) => `${run.nameOf(program)}, life ${life}`);
  const orders = run.worlds.flatMap((world) =>
    world.orders.all().map(({ customIdentifier, reference }) => customIdentifier ?? reference),
  );
  const claims = run.worlds.reduce((sum, world) => sum + world.claims.size, 0);
  const renders = run.worlds.reduce((sum, world) => sum + world.renders.size, 0);
  const had = [
    orders.length === 0 ? "no order" : `the orders ${orders.join(", ")}`,
    ...(claims > 0 ? [`${claims} claims`] : []),
    ...(renders > 0 ? [`${renders} renders`] : []),
  ];
  const pagesToRead = [...new Set(findings.map(({ kind }) => pages[kind]))];
  return [
    ...findings.map(({ text }) => text),
    ...[...lives].flatMap(([name, steps]) => ["", name, ...lifeOf(steps)]),
    "",
    `In the end, the service had ${had.join(", ")}.`,
    ...pagesToRead.map((page) => `Read node_modules/pod-partner/docs/${page}`),
    `Replay it: simulate(program, { replay: ${JSON.stringify(lineOf(run.schedule))} })`,
  ].join("\n");
}
