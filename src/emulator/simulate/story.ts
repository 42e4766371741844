import type { World } from "../state/world.ts";
import { type SimulatedStep, SimulationError, type SimulationFinding } from "./error.ts";
import { lineOf } from "./schedule.ts";
import type { PlayedRun } from "./simulation.ts";

/** The page that helps, for each kind of finding. */
const pageOf: Readonly<Record<SimulationFinding["kind"], string>> = {
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
  return [line, ...events.map(({ text }) => `${" ".repeat(13)}✗ ${text}`)];
}

/** Steps of a storage tell little, unless a fault strikes them. */
const isShown = ({ point = "", events }: SimulatedStep): boolean => !point.startsWith("s") || events.length > 0;

/** The most steps of a life that are shown: the first ones and the last ones, and all that a fault struck. */
const shown = { first: 8, last: 12 };

function lifeOf(steps: readonly SimulatedStep[]): readonly string[] {
  const lines: string[] = [];
  let left = 0;
  for (const [index, step] of steps.entries()) {
    const isLeft = index >= shown.first && index < steps.length - shown.last && step.events.length === 0;
    left = isLeft ? left + 1 : 0;
    if (left > 1) lines.pop();
    lines.push(...(isLeft ? [`${" ".repeat(13)}(${left} more)`] : linesOf(step)));
  }
  return lines;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** What the service has in the end. */
function madeIn(worlds: readonly World[]): string {
  const orders = worlds.flatMap((world) =>
    world.orders.all().map(({ customIdentifier, reference }) => customIdentifier ?? reference),
  );
  const count = (sizeOf: (world: World) => number) => worlds.reduce((sum, world) => sum + sizeOf(world), 0);
  const claims = count((world) => world.claims.size);
  const renders = count((world) => world.renders.size);
  const parts = [
    orders.length === 0 ? "no order" : `the orders ${orders.join(", ")}`,
    ...(claims > 0 ? [counted(claims, "claim")] : []),
    ...(renders > 0 ? [counted(renders, "render")] : []),
  ];
  return parts.join(", ");
}

/** The error of a run. Its story tells what each life did, what struck it, and what the service had in the end. */
export function failureOf(run: PlayedRun, findings: readonly SimulationFinding[]): SimulationError {
  const { schedule, trace, worlds } = run;
  const lives = Map.groupBy(trace.filter(isShown), ({ program, life }) => `${program}, life ${life}`);
  const made = madeIn(worlds);
  const pages = [...new Set(findings.map(({ kind }) => `node_modules/pod-partner/docs/${pageOf[kind]}`))];
  const story = [
    ...findings.map(({ text }) => text),
    ...[...lives].flatMap(([name, steps]) => ["", name, ...lifeOf(steps)]),
    "",
    `In the end, the service had ${made}.`,
    ...pages.map((page) => `Read ${page}`),
    `Replay it: simulate(program, { replay: ${JSON.stringify(lineOf(schedule))} })`,
  ];
  return new SimulationError(story.join("\n"), { schedule, findings, trace, made, pages });
}
