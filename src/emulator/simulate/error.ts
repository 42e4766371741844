import { lineOf, type OperationKind, type Schedule, type SimulatedEvent } from "./schedule.ts";

/** One thing that a program did, as the trace of a run has it. */
export interface SimulatedStep {
  /** Milliseconds since the start of the run. */
  readonly at: number;
  /** The name of its function if several programs run, otherwise `the program`. */
  readonly program: string;
  /** Which life of the program, from 1 on. */
  readonly life: number;
  /** An operation, a call of a client that begins, a failure of a call or of the program, or something else, such as the end of a life. */
  readonly kind: OperationKind | "call" | "failure" | "note";
  /** Names the operation in a schedule: `r3`. Undefined for what no fault can strike. */
  readonly point: string | undefined;
  /** The call of a client that it belongs to, counted from 1 in each run. Undefined for what the program does itself. */
  readonly call: number | undefined;
  readonly text: string;
  /** What struck it. */
  readonly events: readonly SimulatedEvent[];
  /** What came of it. Undefined when the program never saw it, or has done something else before: then a later step has it. */
  readonly result: string | undefined;
}

/** What is wrong at the end of a run. */
export interface SimulationFinding {
  readonly kind: "doubled" | "missing" | "different" | "render" | "handled" | "unfinished" | "failed" | "check";
  readonly text: string;
}

/** A schedule breaks the program. The message is its story. */
export class SimulationError extends Error {
  override readonly name = "SimulationError";
  /** What each life did, what struck it, what the service had in the end, and which page helps. */
  readonly story: string;
  /** The schedule as one line, for the option `replay`. */
  readonly replay: string;
  readonly schedule: Schedule;
  /** What is wrong. */
  readonly findings: readonly SimulationFinding[];
  /** All operations, in their order. */
  readonly trace: readonly SimulatedStep[];
  /** What the service had in the end: `the orders shop-1, shop-2`. */
  readonly made: string;
  /** The pages that help. */
  readonly pages: readonly string[];

  constructor(
    story: string,
    { schedule, findings, trace, made, pages }: Omit<SimulationError, keyof Error | "story" | "replay">,
  ) {
    super(story);
    this.story = story;
    this.replay = lineOf(schedule);
    this.schedule = schedule;
    this.findings = findings;
    this.trace = trace;
    this.made = made;
    this.pages = pages;
  }
}
