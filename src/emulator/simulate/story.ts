import { shorten } from "../../errors/base.ts";
import type { World } from "../state/world.ts";
import { type SimulatedStep, SimulationError, type SimulationFinding } from "./error.ts";
import { lineOf } from "./schedule.ts";
import type { PlayedRun } from "./simulation.ts";
import { prepared } from "./trace.ts";

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
const indentation = " ".repeat(13);

/** What a step shows: its own result, and each fault that struck it. */
function linesOf({ at, text, events, result }: SimulatedStep, inner: string): readonly string[] {
  const line = `${time(at)}  ${inner}${text}${result === undefined || result === "done" ? "" : `  → ${result}`}`;
  return [line, ...events.map((event) => `${indentation}${inner}✗ ${event.text}`)];
}

const isStruck = ({ events }: SimulatedStep): boolean => events.length > 0;

/** Whether something went wrong that the program could see, or that ended it. */
const isFailure = ({ kind }: SimulatedStep): boolean => kind === "failure";
/** Whether a step frames others: the beginning or the failure of a call. */
const isFrame = ({ kind }: SimulatedStep): boolean => kind === "call" || kind === "failure";

/** What the storage did tells something in the calls of a client that were struck or have failed. What a program prepares tells nothing. */
function shownOf(steps: readonly SimulatedStep[]): readonly SimulatedStep[] {
  const telling = new Set(steps.filter((step) => isStruck(step) || isFailure(step)).map(({ call }) => call));
  telling.delete(undefined);
  return steps.filter(
    (step) => isStruck(step) || (step.result !== prepared && (step.kind !== "storage" || telling.has(step.call))),
  );
}

/** Puts operations of the storage that follow each other into one step. */
function joined(steps: readonly SimulatedStep[]): readonly SimulatedStep[] {
  const groups: SimulatedStep[][] = [];
  for (const step of steps) {
    const group = groups.at(-1);
    const isMore =
      step.kind === "storage" &&
      !isStruck(step) &&
      group?.every((other) => other.kind === "storage" && !isStruck(other) && other.call === step.call);
    if (isMore) group?.push(step);
    else groups.push([step]);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (first?.kind !== "storage" || isStruck(first)) return group;
    const names = [
      ...new Set(
        group.map(({ text, result = "done" }) => shorten(text, 36) + (result === "done" ? "" : ` → ${result}`)),
      ),
    ];
    const more = group.length > names.length ? `, ${group.length} operations` : "";
    return [{ ...first, text: `storage: ${names.slice(0, 3).join(", ")}${more}`, result: undefined }];
  });
}

/** The most steps of a life that are shown: the first and the last ones, and those near a fault or a failure. */
const most = { first: 6, last: 12, near: 3 };

function lifeOf(all: readonly SimulatedStep[]): readonly string[] {
  const visible = joined(shownOf(all));
  // A call with one request is the request.
  const sizes = Map.groupBy(
    visible.filter((step) => !isFrame(step)),
    ({ call }) => call,
  );
  const isLong = ({ call }: SimulatedStep) => call !== undefined && sizes.get(call)?.length !== 1;
  const steps = visible.filter((step) => step.kind !== "call" || isLong(step));
  const lines: string[] = [];
  let left = 0;
  for (const [index, step] of steps.entries()) {
    const near = steps.slice(Math.max(index - most.near, 0), index + most.near + 1);
    const isLeft =
      index >= most.first &&
      index < steps.length - most.last &&
      !near.some((other) => isStruck(other) || isFailure(other));
    left = isLeft ? left + 1 : 0;
    if (left > 1) lines.pop();
    lines.push(
      ...(isLeft ? [`${indentation}(${left} more)`] : linesOf(step, !isFrame(step) && isLong(step) ? "  " : "")),
    );
  }
  return lines;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** What the service has in the end. */
export function summaryOf(worlds: readonly World[]): string {
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
export function failureOf(
  run: PlayedRun,
  findings: readonly SimulationFinding[],
  usual: string | undefined = undefined,
): SimulationError {
  const { schedule, trace, worlds } = run;
  const lives = Map.groupBy(trace, ({ program, life }) => `${program}, life ${life}`);
  const has = summaryOf(worlds);
  const made = usual === undefined || usual === has ? has : `${has}; without a fault, it has ${usual}`;
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
