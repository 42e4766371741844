import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { SimulatedProgram, SimulateOptions, SimulationError } from "pod-partner/testing";
import { isFunction, propertyOf, wordsOf } from "../util/foreign.ts";
import { version } from "../util/runtime.ts";
import { command, exitCodes, Failure, text, usage, wholeNumber } from "./arguments.ts";
import { checkFile, writeFile } from "./output-file.ts";
import { replayOf, type Simulated, toHtml } from "./simulate-report.ts";
import { clearProgress, counted, paint, print, showProgress } from "./terminal.ts";

interface ProgramModule {
  readonly programs: readonly SimulatedProgram<object>[];
  readonly options: SimulateOptions<object>;
}

/** Why a module cannot be loaded, and what to do. */
function reasonOf(error: unknown, path: string): string {
  if (propertyOf(error, "code") === "ERR_UNKNOWN_FILE_EXTENSION") {
    return "this Node does not run TypeScript: use Node 22.18 or later";
  }
  const reason = wordsOf(error).replace(/\.$/, "");
  const isCommonJs = /import statement outside a module|Unexpected token 'export'/.test(reason);
  const name = path.replace(/\.[cm]?([jt]s)$/, ".m$1");
  return isCommonJs ? `${reason}: name it ${name}, or set "type": "module" in its package.json` : reason;
}

/** Loads the module of the user. Throws a `Failure` if it has no program. */
async function load(path: string): Promise<ProgramModule> {
  const loaded: unknown = await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    throw new Failure(`The module ${path} cannot be loaded: ${reasonOf(error, path)}.`, exitCodes.usage);
  });
  const program = propertyOf(loaded, "default");
  const programs: readonly unknown[] = Array.isArray(program) ? program : [program];
  if (programs.length === 0 || !programs.every(isProgram)) {
    const message = `The module ${path} must export a function as its default, or several in an array: each is a program.`;
    throw new Failure(message, exitCodes.usage);
  }
  return { programs, options: Object(propertyOf(loaded, "options")) };
}

const isProgram = (value: unknown): value is SimulatedProgram<object> => isFunction(value);

/** The lines of a story in their colours, below its heading. The last one is the command that replays it. */
function painted({ story, trace, replay }: SimulationError, simulated: Simulated): readonly string[] {
  const failures = trace.filter(({ kind }) => kind === "failure");
  return story
    .split("\n")
    .slice(1)
    .map((line) => {
      if (line.startsWith("Replay it: ")) return `Replay it: ${replayOf(simulated, replay)}`;
      if (/^\S.*, life \d+$/.test(line)) return paint("bold", line);
      return /^ +✗/.test(line) || failures.some(({ text }) => line.endsWith(text)) ? paint("red", line) : line;
    });
}

/** `pod-partner simulate`: runs a program in virtual time under many schedules of faults. */
export const simulate = command({
  name: "simulate",
  summary: "Finds what breaks your program: plays hundreds of schedules of faults and kills.",
  flags: {
    schedules: wholeNumber("How many schedules are tried. Default 500.", { least: 1 }),
    seed: wholeNumber("The number that the schedules derive from. Default 1."),
    lives: wholeNumber("How often a program may begin in a schedule. Default 20.", { least: 1 }),
    replay: text('The line of a story, to run that schedule only: "1 r1:kill".', "line"),
    html: text("A file for the report as a page.", "file"),
  },
  operand: "module",
  notes: [
    "The module exports a function as its default, which is one life of the program, or several programs in an array. The export `options` has the options of simulate(): setUp, check, database and others. For example: pod-partner simulate ./worker.ts",
    "Exit code: 0 when nothing broke it, 1 when a schedule did, 2 when it could not run.",
  ],
  run: async ({ html, ...given }, [path]) => {
    if (path === undefined) throw usage("A module is missing: pod-partner simulate ./worker.ts.");
    if (html !== undefined) checkFile(html);
    const { programs, options } = await load(path);
    const sdk = await import("pod-partner/testing");
    print(`${paint("bold", "pod-partner simulate")} ${paint("dim", path)}`, "");
    const began = performance.now();
    let tried = 0;
    const onProgress = (done: number, schedules: number) => {
      tried = done;
      const perSecond = Math.round((1_000 * done) / (performance.now() - began));
      showProgress(done, schedules, `${perSecond} schedules in a second`);
    };
    const result = await sdk.simulate(programs, { ...options, ...given, onProgress }).catch((error: unknown) => {
      if (error instanceof sdk.SimulationError) return error;
      if (propertyOf(error, "name") !== "ConfigurationError") throw error;
      throw new Failure(wordsOf(error), exitCodes.usage);
    });
    clearProgress();
    const took = performance.now() - began;
    const simulated: Simulated = { version, module: path, lives: given.lives, tried, took, result };
    if (html !== undefined) writeFile(html, toHtml(simulated));
    const seconds = (simulated.took / 1_000).toFixed(1);
    if (!(result instanceof Error)) {
      const { seed, schedules, operations } = result;
      print(
        `${paint("green", "✓")} Nothing broke it: ${counted(schedules, "schedule")} of seed ${seed} in ${seconds} s.`,
        `  ${counted(operations.request, "request")} without a fault, ${counted(operations.storage + operations.database, "operation")} of storage and database, ${counted(operations.callback, "callback")}`,
      );
      return 0;
    }
    const [heading] = result.story.split("\n", 1);
    print(paint("red", `✗ ${heading}`), ...painted(result, simulated));
    if (tried > 0) print("", paint("dim", `Found after ${counted(tried, "schedule")}, in ${seconds} s.`));
    return exitCodes.failed;
  },
});
