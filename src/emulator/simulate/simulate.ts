import { saveOrganization } from "../state/saved-world.ts";
import { differences, type Made, madeIn, repeatedOrders } from "./compare.ts";
import type { SimulatedDatabase } from "./database.ts";
import type { SimulationFinding } from "./error.ts";
import { resolveSimulation, type SimulatedProgram, type SimulateOptions } from "./options.ts";
import { replacePlatform } from "./platform.ts";
import { readSchedule, type Schedule, type Space, schedulesOf } from "./schedule.ts";
import { type Habits, type PlayedRun, Simulation } from "./simulation.ts";
import { failureOf, summaryOf } from "./story.ts";

/** What {@link simulate} has tried, when nothing broke the program. */
export interface SimulationReport {
  readonly schedules: number;
  readonly seed: number;
  /** The operations of the run without a fault: where faults can strike. */
  readonly operations: Space["counts"];
}

/** What a run without a fault makes and uses. */
interface Calm {
  readonly made: Made;
  readonly renders: number;
  readonly habits: Habits;
  readonly space: Space;
  /** What it makes, for a person. */
  readonly summary: string;
}

const madeBy = (run: PlayedRun) => ({
  made: madeIn({ organizations: run.worlds.map(saveOrganization) }),
  renders: run.worlds.reduce((sum, { renders }) => sum + renders.size, 0),
});

/** What is wrong with a run, beside what it found itself. Without `calm`, it is the run without a fault. */
function judge(run: PlayedRun, calm: Pick<Calm, "made" | "renders"> | undefined) {
  const { backwards } = run;
  const findings: SimulationFinding[] = [...run.findings];
  const { made, renders } = madeBy(run);
  if (calm === undefined) findings.push(...repeatedOrders(made));
  else {
    // A program that did not end, or that its own check has stopped, may not have made everything yet.
    const all = differences(calm.made, made);
    findings.push(...(run.findings.length === 0 ? all : all.filter(({ kind }) => kind === "doubled")));
    if (renders > calm.renders)
      findings.push({ kind: "render", text: `${renders} renders were paid, ${calm.renders} without a fault` });
  }
  if (run.findings.length === 0 && run.unhandled.length > 0)
    findings.push({
      kind: "handled",
      text: `the program has not acted on the last change of ${run.unhandled.join(", ")}`,
    });
  if (backwards.length > 0)
    findings.push({
      kind: "handled",
      text: `the program acted on an older state after a newer one: ${backwards.join(", ")}`,
    });
  return findings;
}

/** Removes events one by one, as long as what is left breaks the program in the same way. */
async function shrink(
  { events, seed }: Schedule,
  breaks: (schedule: Schedule) => Promise<PlayedRun | undefined>,
): Promise<PlayedRun | undefined> {
  let smallest: PlayedRun | undefined;
  let left = events;
  for (let index = 0; index < left.length; ) {
    const run = await breaks({ seed, events: left.filter((_, at) => at !== index) });
    if (run === undefined) index += 1;
    else {
      smallest = run;
      left = run.schedule.events;
      index = 0;
    }
  }
  return smallest;
}

/**
 * Runs a program against the emulator in virtual time, again and again, under faults: lost and late requests, refusals, a storage and a database
 * that fail, callbacks that come twice or never, and kills at any operation. After each run, the service must have the same orders and
 * claims as after a run without faults, each once, and no more paid renders; with {@link SimulatedWorld.handled}, every change must have been acted on, in
 * order. An hour of waiting takes no time, and the same seed gives the same runs.
 *
 * In the program, `setTimeout`, `setInterval`, `Date`, `performance.now`, `AbortSignal.timeout` and random numbers are virtual. What it keeps
 * outside of its function and of `world` survives a kill, which it would not as a process. Connections to other services are not simulated.
 *
 * @param program One life of the program, or several programs that run at the same time. It begins again after it was killed, and after it
 * rejects.
 * @returns What was tried.
 * @throws {@link SimulationError} for the smallest schedule that breaks the program. `ConfigurationError` if an option is invalid.
 * @example
 * await simulate(async (world) => {
 *   const partner = new PodPartner({ ...world.clientOptions, storage: world.storage });
 *   for (const order of await world.database.all<IdentifiedOrderInput>("orders")) await partner.orders.ensure(order);
 * }, {
 *   setUp: ({ database, emulator }) =>
 *     database.put("orders", "shop-1", validOrder(emulator, { customIdentifier: "shop-1" })),
 * });
 */
export async function simulate<Database extends object = SimulatedDatabase>(
  program: SimulatedProgram<Database> | readonly SimulatedProgram<Database>[],
  options: SimulateOptions<Database> = {},
): Promise<SimulationReport> {
  const settings = resolveSimulation(program, options);
  const { schedules, seed, replay, onProgress } = settings;
  const restore = replacePlatform();
  try {
    const simulation = new Simulation(settings);
    const given = replay === undefined ? undefined : readSchedule(replay);
    const calm = await runCalmly(simulation, given?.seed ?? seed);
    const breaks = async (schedule: Schedule, kind?: SimulationFinding["kind"]) => {
      const run = await simulation.play(schedule, calm.habits);
      const findings = judge(run, calm);
      const isBroken = kind === undefined ? findings.length > 0 : findings.some((finding) => finding.kind === kind);
      return isBroken ? { run, findings } : undefined;
    };
    if (given !== undefined) {
      const broken = await breaks(given);
      if (broken !== undefined) throw failureOf(broken.run, broken.findings, calm.summary);
      return { schedules: 1, seed: given.seed, operations: calm.space.counts };
    }
    let done = 0;
    for (const schedule of schedulesOf(seed, schedules, calm.space)) {
      const broken = await breaks(schedule);
      if (broken !== undefined) {
        const [first] = broken.findings;
        const smallest = await shrink(schedule, async (smaller) => (await breaks(smaller, first?.kind))?.run);
        // Its world is gone: only the last run has one.
        const again = await breaks(smallest?.schedule ?? schedule);
        throw failureOf(again?.run ?? broken.run, again?.findings ?? broken.findings, calm.summary);
      }
      done += 1;
      onProgress?.(done, schedules);
    }
    return { schedules, seed, operations: calm.space.counts };
  } finally {
    restore();
  }
}

/** Runs without a fault. The first time, the process loads what it needs, which takes real time. */
async function runCalmly<Database extends object>(simulation: Simulation<Database>, seed: number): Promise<Calm> {
  const schedule: Schedule = { seed, events: [] };
  await simulation.play(schedule, { receives: false, handles: false });
  const run = await simulation.play(schedule, { receives: false, handles: false });
  const findings = judge(run, undefined);
  if (findings.length > 0) throw failureOf(run, findings);
  const { counts, changes, habits } = run;
  return { ...madeBy(run), habits, space: { counts, changes }, summary: summaryOf(run.worlds) };
}
