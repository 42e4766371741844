import type { KeyValueStorage } from "../../storage/contract.ts";
import { memoryStorage } from "../../storage/memory.ts";
import { onAbort } from "../../util/abort-signals.ts";
import { attempt, isObject, propertyOf, textOf, wordsOf } from "../../util/foreign.ts";
import { connectionReset, type Service, WholeResponse } from "../base/messages.ts";
import { jsonCopy } from "../base/table.ts";
import { defaultStart } from "../clock/manual-clock.ts";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { applyFault } from "../faults/apply-fault.ts";
import type { FailRenderFault, Fault } from "../faults/fault.ts";
import { createParts, type EmulatorParts } from "../server/emulator.ts";
import type { SavedWorld } from "../state/saved-world.ts";
import type { World } from "../state/world.ts";
import { createDatabase, hasMethods, watchDatabase } from "./database.ts";
import type { SimulationFinding } from "./error.ts";
import { Ledger, shippedOf } from "./ledger.ts";
import { Life, never } from "./life.ts";
import type { SimulatedProgram, SimulatedWorld, SimulationSettings } from "./options.ts";
import { runOutside } from "./platform.ts";
import { type OperationKind, pointOf, randomFrom, type Schedule } from "./schedule.ts";
import { failureText, prepared, type Step, shown, Trace } from "./trace.ts";

const start = Date.parse(defaultStart);
const minute = 60_000;
const hour = 60 * minute;
/** How long a run may take: a program that is told to wait for weeks has another fault. */
const longest = 7 * 24 * hour;
/** How long a program may take to act on the last change, with a sweep once a day. */
const lastSweep = 26 * hour;
/** How long a read can lag behind, and a storage or a database be down. */
const lag = 3_000;
const outage = 20_000;

/** An operation with what strikes it. */
class Operation {
  readonly #random: (name: string) => number;
  readonly step: Step;

  constructor(step: Step, random: (name: string) => number) {
    this.step = step;
    this.#random = random;
  }

  has(fault: string): boolean {
    return this.step.events.some((event) => event.fault === fault);
  }

  /** A time of this operation: the same one for the same seed. */
  between(name: string, least: number, most: number): number {
    return least + this.#random(name) * (most - least);
  }
}

/** What the programs use: known from the run without a fault. */
export interface Habits {
  /** They receive callbacks. */
  readonly receives: boolean;
  /** They say what they act on. */
  readonly handles: boolean;
}

interface LatestResponse {
  /** Of the response before the latest change. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly init: ResponseInit;
}

/** A program with its current life. */
interface Running<Database extends object> {
  readonly name: string;
  readonly run: SimulatedProgram<Database>;
  life: Life | undefined;
  hasEnded: boolean;
  receive: ((request: Request) => Response | Promise<Response>) | undefined;
}

/** The faults of a request that the emulator has, too. */
const faultOf = (operation: Operation): readonly Exclude<Fault, FailRenderFault>[] =>
  operation.step.events.flatMap(({ fault }): Exclude<Fault, FailRenderFault>[] => {
    switch (fault) {
      case "lost-before":
        return [{ fault: "drop", when: "before" }];
      case "lost":
        return [{ fault: "drop" }];
      case "slow":
        return [{ fault: "slow", ms: operation.between("slow", 2_000, 12_000) }];
      case "late":
        return [{ fault: "slow", when: "before", ms: operation.between("late", 2_000, 20_000) }];
      case "gateway":
        return [{ fault: "gateway", ms: 1_000, processing: operation.between("gateway", 2_000, 20_000) }];
      case "429":
        return [{ fault: "status", when: "before", status: 429, code: "rate_limited", retryAfter: 2_000 }];
      case "503":
        return [{ fault: "status", when: "before", status: 503 }];
      case "cut":
        return [{ fault: "truncate" }];
      default:
        return [];
    }
  });

/** What all runs of a simulation share: an emulator, and a clock that starts again for each run. */
export class Simulation<Database extends object> {
  readonly settings: SimulationSettings<Database>;
  readonly clock = new VirtualClock();
  readonly parts: EmulatorParts;
  readonly #begin: SavedWorld;
  #deliver: (request: Request) => Promise<Response> = async () => new Response(null, { status: 204 });

  constructor(settings: SimulationSettings<Database>) {
    this.settings = settings;
    this.clock.reset(start);
    const { seed, callbacks, ...options } = settings.emulator;
    this.parts = createParts({
      repeatedIdentifier: "create",
      callbackUrl: "http://program.test/callback?token=simulated-callback",
      ...options,
      seed: { number: settings.seed, ...seed },
      callbacks: { ...callbacks, fetch: (request) => this.#deliver(request) },
      clock: this.clock,
    });
    this.#begin = this.parts.emulator.world();
  }

  /** Runs the programs under a schedule, from the state at the start. */
  async play(schedule: Schedule, habits: Habits): Promise<PlayedRun> {
    this.clock.reset(start);
    const { emulation, emulator } = this.parts;
    emulation.load(jsonCopy(this.#begin));
    emulator.requests.clear();
    const run = new SimulatedRun(this, schedule, habits);
    this.#deliver = run.deliver;
    await run.play();
    return run;
  }
}

/** A run that has ended. Its worlds are those of the next run as soon as that begins. */
export type PlayedRun = Pick<
  SimulatedRun<object>,
  "schedule" | "trace" | "findings" | "counts" | "habits" | "changes" | "worlds" | "unhandled" | "backwards"
>;

/** How a story names a program: by its function, unless there is only one. Programs of the same function have numbers. */
function nameOf(programs: readonly { readonly name: string }[], index: number): string {
  if (programs.length === 1) return "the program";
  const { name = "" } = programs[index] ?? {};
  const isAlone = programs.filter((other) => other.name === name).length === 1;
  return isAlone && name !== "" ? name : `${name || "program"} ${index + 1}`;
}

const rolledBack = "rolled back";
const seconds = (ms: number): string => `${Math.round(ms / 10) / 100} s`;

/** Nothing can strike what happens before and after the programs, and no story tells it. */
const stepOutside = (step: Pick<Step, "kind" | "text" | "point" | "events">): Step => ({
  at: 0,
  program: "",
  life: 0,
  call: undefined,
  result: undefined,
  ...step,
});

/** One run of the programs under a schedule. */
class SimulatedRun<Database extends object> {
  readonly schedule: Schedule;
  readonly #ledger = new Ledger();
  readonly findings: SimulationFinding[] = [];
  readonly counts: Record<OperationKind, number> = { request: 0, storage: 0, database: 0, callback: 0 };
  readonly habits: { -readonly [Habit in keyof Habits]: Habits[Habit] };
  readonly #trace = new Trace(() => this.#clock.now() - start);
  readonly #simulation: Simulation<Database>;
  readonly #clock: VirtualClock;
  readonly #storage: KeyValueStorage;
  readonly #programs: Running<Database>[];
  readonly #latest = new Map<string, { readonly now: LatestResponse; readonly before: LatestResponse | undefined }>();
  readonly #downUntil = { storage: 0, database: 0 };
  #database: Database | undefined;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** Requests without a response. */
  readonly #open = new Set<Operation>();
  /** Callbacks that come later. */
  #delayed = 0;

  constructor(simulation: Simulation<Database>, schedule: Schedule, habits: Habits) {
    this.#simulation = simulation;
    this.#clock = simulation.clock;
    this.schedule = schedule;
    this.habits = { ...habits };
    this.#storage = memoryStorage({ clock: this.#clock, organization: "simulation" });
    const { programs } = simulation.settings;
    this.#programs = programs.map((run, index) => ({
      name: nameOf(programs, index),
      run,
      life: undefined,
      hasEnded: false,
      receive: undefined,
    }));
  }

  get emulator() {
    return this.#simulation.parts.emulator;
  }

  get trace(): readonly Step[] {
    return this.#trace.steps;
  }

  /** The requests that change something, by their numbers. */
  get changes(): readonly number[] {
    return this.trace.flatMap(({ point = "", text }) =>
      point.startsWith("r") && !text.startsWith("GET ") ? [Number(point.slice(1))] : [],
    );
  }

  /** The identifier of an order, by which a person knows it. */
  #nameOf(reference: string): string {
    const orders = this.worlds.map((world) => world.orders.get(reference));
    return orders.find((order) => order !== undefined)?.customIdentifier ?? reference;
  }

  /** The orders, claims and renders of now. */
  get worlds(): readonly World[] {
    return this.#simulation.parts.emulation.worlds;
  }

  /** The orders that have moved without an action of a program. */
  get unhandled(): readonly string[] {
    return this.habits.handles ? this.#ledger.missing(this.worlds) : [];
  }

  /** The orders of which an older state was handled after a newer one. */
  get backwards(): readonly string[] {
    return this.#ledger.backwards.map((reference) => this.#nameOf(reference));
  }

  async play(): Promise<void> {
    const { settings } = this.#simulation;
    const open: (() => Promise<Database> | Database) | undefined = settings.database;
    this.#database = open === undefined ? (createDatabase() as Database & object) : await open();
    const fail = (error: unknown) => this.#find("check", wordsOf(error));
    const outside = new Life(0, 0, this.#clock, randomFrom(`outside ${this.schedule.seed}`), { onCrash: fail });
    if (!(await this.#outside(settings.setUp, outside))) return;
    for (const program of this.#programs.keys()) void this.#live(program);
    const inTime = await this.#clock.passUntil(() => this.#hasEnded || this.findings.length > 0, start + longest);
    if (!inTime) this.#find("unfinished", this.#reason());
    const end = this.#clock.now();
    // The service may still be working on what was sent.
    await this.#clock.pass(end + minute);
    await this.#clock.pass(end + lastSweep, () => this.#isDelivered || this.findings.length > 0);
    if (this.#open.size > 0) this.#find("unfinished", "a request still waits at the end");
    for (const { life } of this.#programs) life?.kill();
    if (this.findings.length === 0) await this.#outside(settings.check, outside);
    outside.kill();
  }

  #find(kind: SimulationFinding["kind"], text: string): void {
    this.findings.push({ kind, text });
  }

  #reason(): string {
    const waiting = this.#programs.flatMap(({ name, hasEnded, life }) =>
      hasEnded ? [] : [`${name}, life ${life?.number ?? 0}`],
    );
    return `${waiting.join(" and ")} did not end within a week of virtual time: let a worker end when no job is left`;
  }

  /** Runs `setUp` or `check`. Resolves to false if it failed. */
  async #outside(work: ((world: SimulatedWorld<Database>) => unknown) | undefined, life: Life): Promise<boolean> {
    if (work === undefined) return true;
    let isOver = false;
    void life
      .run(async () => work(this.#worldOf(life)))
      .then(() => {
        isOver = true;
      }, life.crash);
    if (!(await this.#clock.passUntil(() => isOver || life.isOver, this.#clock.now() + longest)))
      this.#find("check", "`setUp` or `check` did not end");
    return this.findings.length === 0;
  }

  get #hasEnded(): boolean {
    return this.#programs.every(({ hasEnded }) => hasEnded);
  }

  /** Whether everything is delivered, and the programs have acted on it. */
  get #isDelivered(): boolean {
    if (!this.habits.receives) return true;
    const { emulation } = this.#simulation.parts;
    const isDone = emulation.agenda.save().length === 0 && emulation.callbacks.saveDeliveries().length === 0;
    return isDone && this.#delayed === 0 && this.#hasEnded && this.unhandled.length === 0;
  }

  /** Begins an operation of a life: counts it, and finds what strikes it. */
  #begin(life: Pick<Life, "program" | "number">, kind: OperationKind, text: string): Operation {
    const isOutside = life.number === 0;
    if (!isOutside) this.counts[kind] += 1;
    const nth = this.counts[kind];
    const point = pointOf(kind, nth);
    const events = isOutside ? [] : this.schedule.events.filter((event) => event.at === kind && event.nth === nth);
    const shared = { kind, text, point, events };
    const step = isOutside ? stepOutside(shared) : this.#trace.add(this.#whoIs(life), shared);
    return new Operation(step, (name) => randomFrom(`${this.schedule.seed} ${point} ${name}`)());
  }

  #whoIs({ program, number: life }: Pick<Life, "program" | "number">) {
    return { program: this.#programs[program]?.name ?? "", life };
  }

  #note(life: Pick<Life, "program" | "number">, text: string, kind: "note" | "failure" = "note"): void {
    if (life.number > 0) this.#trace.add(this.#whoIs(life), { kind, text });
  }

  /** The lives of a program, one after the other. */
  async #live(index: number): Promise<void> {
    const program = this.#programs[index];
    if (program === undefined) return;
    const { seed } = this.schedule;
    const { lives } = this.#simulation.settings;
    for (let number = 1; number <= lives; number += 1) {
      const random = randomFrom(`${seed} life ${index} ${number}`);
      const life: Life = new Life(index, number, this.#clock, random, {
        onCrash: (error) => {
          this.#note(life, `the program fails: ${failureText(error)}`, "failure");
          if (this.schedule.events.length === 0) this.#find("failed", `it fails without a fault: ${wordsOf(error)}`);
        },
        onCall: (call) => this.#trace.call(this.#whoIs(life), call, `call ${call.endpoint}`),
        onWait: (ms) => this.#note(life, `waits ${seconds(ms)}`),
        onCallFailed: ({ error }) => this.#note(life, `the call fails: ${failureText(error)}`, "failure"),
      });
      Object.assign(program, { life, hasEnded: false, receive: undefined });
      void life
        .run(async () => program.run(this.#worldOf(life)))
        .then(() => {
          if (!life.isOver) this.#note(life, "the program ends");
          program.hasEnded = true;
        }, life.crash);
      await life.end;
      program.receive = undefined;
      program.hasEnded = false;
      this.#rollBack(life);
      // A supervisor starts it again.
      await this.#clock.sleep(100 + random() * 5_000);
      if (this.findings.length > 0) return;
    }
    this.#find("unfinished", `${program.name} did not end in ${lives === 1 ? "its only life" : `${lives} lives`}`);
  }

  /** An open transaction of `node:sqlite` ends with the process. */
  #rollBack(life: Life): void {
    const exec = propertyOf(this.#database, "exec");
    if (propertyOf(this.#database, "isTransaction") !== true || typeof exec !== "function") return;
    Reflect.apply(exec, this.#database, ["ROLLBACK"]);
    this.#note(life, `the open transaction is ${rolledBack}`);
  }

  #worldOf(life: Life): SimulatedWorld<Database> {
    const { clientOptions } = this.emulator;
    const database = this.#database;
    if (database === undefined) throw new TypeError("The database is not open");
    return {
      clientOptions: {
        ...clientOptions,
        fetch: (input, init) => this.#fetch(life, input, init),
        clock: life.clock,
        // The client's default is a warning of the process each time.
        hooks: {
          onStorageLost: () => {},
          onRetry: ({ error, status, delay }) =>
            this.#note(life, `the client waits ${seconds(delay)} and sends it again: ${error} ${status ?? ""}`.trim()),
          onPause: ({ reason }) =>
            this.#note(
              life,
              `the client waits: ${reason === "other-process" ? "another life or process works on it" : reason}`,
            ),
        },
      },
      storage: this.#storageOf(life),
      database: watchDatabase(database, {
        life,
        track: (work) => this.#clock.track(work),
        call: (text) => this.#callDatabase(life, text),
      }),
      life: life.number,
      emulator: this.emulator,
      clock: life.clock,
      random: life.random,
      sleep: (ms) => {
        life.onWait(ms);
        return new Promise((resolve) => void life.clock.after(ms, resolve));
      },
      serve: (receive) => {
        const program = this.#programs[life.program];
        if (life.isOver || life.number === 0 || program === undefined) return;
        program.receive = receive;
        this.habits.receives = true;
      },
      handled: (order) => {
        if (life.isOver) return;
        this.habits.handles = true;
        this.#note(life, `has acted on ${this.#nameOf(order.reference)}: ${shippedOf(order.orderlines)} shipped`);
        this.#ledger.add(order);
      },
    };
  }

  /** What strikes an operation before it is done. */
  #strike(life: Life, operation: Operation, kind: "storage" | "database"): void {
    if (operation.has("kill-before")) life.kill();
    if (operation.has("down")) this.#downUntil[kind] = this.#clock.now() + outage;
  }

  /** Throws while it is down. */
  #refuse({ step }: Operation, kind: "storage" | "database"): void {
    if (this.#clock.now() >= this.#downUntil[kind]) return;
    this.#trace.end(step, "down");
    throw new Error(`The ${kind} cannot be reached (simulated)`);
  }

  #callDatabase(life: Life, text: string) {
    const operation = this.#begin(life, "database", text);
    const { step } = operation;
    return {
      begin: () => {
        this.#strike(life, operation, "database");
        if (!life.isOver) this.#refuse(operation, "database");
      },
      failed: (error: unknown) => {
        this.#trace.end(step, life.isOver ? rolledBack : failureText(error));
      },
      done: (value: unknown) => {
        if (operation.has("kill")) life.kill();
        if (operation.has("suspend")) life.suspend(operation.between("suspend", minute / 2, 3 * minute));
        if (life.isOver) return;
        const isNothing = value === undefined && !text.startsWith("get ");
        const result = hasMethods(value) ? prepared : isNothing ? "done" : shown(value);
        this.#trace.end(step, operation.has("lost") ? "lost" : result);
        if (operation.has("lost")) throw new Error("The result of the database was lost (simulated)");
      },
      arrive: async () => {
        await this.#clock.sleep(
          operation.has("slow") ? operation.between("slow", 500, 5_000) : operation.between("ms", 1, 5),
        );
        await life.turn();
      },
    };
  }

  #storageOf(life: Life): KeyValueStorage {
    const storage = this.#storage;
    const operate = async <T>(name: string, key: string, work: () => Promise<T>): Promise<T> => {
      if (life.isOver) return never;
      const operation = this.#begin(life, "storage", `${name} ${key.replace(/^pod-partner:\{\w*\}:/, "")}`);
      const { step } = operation;
      this.#strike(life, operation, "storage");
      if (operation.has("suspend")) life.suspend(operation.between("suspend", minute / 2, 3 * minute));
      await life.turn();
      await this.#clock.sleep(
        operation.has("slow") ? operation.between("slow", 500, 3_000) : operation.between("in", 1, 8),
      );
      this.#refuse(operation, "storage");
      const result = await work();
      if (operation.has("kill")) life.kill();
      await this.#clock.sleep(operation.between("out", 1, 4));
      await life.turn();
      const done = result === undefined ? "nothing" : result === false ? "refused" : "done";
      this.#trace.end(step, operation.has("lost") ? "lost" : done);
      if (operation.has("lost")) throw new Error("The result of the storage was lost (simulated)");
      return result;
    };
    return {
      kind: storage.kind,
      organization: storage.organization,
      get: (key) => operate("get", key, () => storage.get(key)),
      set: (key, value, options) => operate("set", key, () => storage.set(key, value, options)),
      delete: (key, options) => operate("delete", key, () => storage.delete(key, options)),
      keys: async function* (prefix) {
        await operate("keys", prefix, async () => {});
        yield* storage.keys(prefix);
      },
    };
  }

  async #fetch(life: Life, input: Request | URL | string, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const signal = init?.signal ?? request.signal;
    // Nothing that the program does later reaches this request.
    const body = request.body === null ? null : await this.#clock.track(request.arrayBuffer());
    if (life.isOver) return never;
    const { url, method, headers } = request;
    const path = url.slice(this.emulator.baseUrl.length);
    const [reference] = /Order_\w+/.exec(path) ?? [];
    const about = reference === undefined ? aboutOf(body) : this.#nameOf(reference);
    const named = about === undefined || path.includes(about) ? "" : ` (${about})`;
    const operation = this.#begin(life, "request", `${method} ${path}${named}`);
    const { step } = operation;
    if (operation.has("kill-before")) life.kill();
    await life.turn();
    const sent = new Request(url, { method, headers, body });
    this.#open.add(operation);
    const exchange = runOutside(() => this.#exchange(operation, sent, signal));
    exchange.catch(() => {});
    if (operation.has("kill")) life.kill();
    if (operation.has("suspend")) life.suspend(operation.between("suspend", minute / 2, 3 * minute));
    let stopListening = () => {};
    const aborted = new Promise<never>((_, reject) => {
      stopListening = onAbort(signal, reject);
    });
    void life.end.then(() => this.#open.delete(operation));
    try {
      const response = await Promise.race([exchange, aborted]).finally(() => life.turn());
      this.#trace.end(step, String(response.status), `the response to ${step.text}`);
      return response;
    } catch (error) {
      this.#trace.end(step, signal.aborted ? "given up" : "lost", `the response to ${step.text}`);
      throw error;
    } finally {
      stopListening();
      this.#open.delete(operation);
    }
  }

  /** The way of a request to the service and back. */
  async #exchange(operation: Operation, request: Request, signal: AbortSignal): Promise<Response> {
    const { method, url } = request;
    const serve: Service = async (sent) => {
      const response = await this.#clock.track(runOutside(() => this.emulator.fetch(sent)));
      if (method !== "GET") this.#changedAt = this.#clock.now();
      else await this.#remember(url, response);
      return response;
    };
    const service = faultOf(operation).reduce<Service>(
      (inner, fault) => (sent) =>
        applyFault(inner, sent, { request: signal, state: new AbortController().signal }, fault, this.#clock),
      serve,
    );
    await this.#clock.sleep(operation.between("in", 5, 60));
    const old = operation.has("stale") && method === "GET" ? this.#staleResponse(url) : undefined;
    const response = old ?? (await service(request));
    await this.#clock.sleep(operation.between("out", 5, 60));
    return response;
  }

  async #remember(url: string, response: Response): Promise<void> {
    if (!(response instanceof WholeResponse)) return;
    const { whole, status, headers } = response;
    const bytes = typeof whole === "string" ? new TextEncoder().encode(whole) : whole;
    const before = this.#latest.get(url)?.now;
    this.#latest.set(url, { now: { bytes, init: { status, headers: new Headers(headers) } }, before });
  }

  /** The response of a replica that lags behind; undefined where all of them know everything. */
  #staleResponse(url: string): Response | undefined {
    if (this.#clock.now() - this.#changedAt > lag) return undefined;
    const known = this.#latest.get(url)?.now;
    if (known !== undefined) return new Response(known.bytes, known.init);
    if (!/\/(orders\/|utilities\/lookup-order)/.test(url)) return undefined;
    const headers = { "Content-Type": "application/json" };
    return new Response(JSON.stringify({ code: "not_found", message: "A replica does not show it yet" }), {
      status: 404,
      headers,
    });
  }

  /** Delivers a callback of the service. */
  readonly deliver = async (request: Request): Promise<Response> => {
    this.#changedAt = this.#clock.now();
    if (!this.habits.receives) return new Response(null, { status: 204 });
    const index = Math.max(
      this.#programs.findIndex(({ receive }) => receive !== undefined),
      0,
    );
    const { life } = this.#programs[index] ?? {};
    const name = new URL(request.url).searchParams.get("custom_reference") ?? "";
    const operation = this.#begin({ program: index, number: life?.number ?? 1 }, "callback", `callback ${name}`.trim());
    const { step } = operation;
    if (operation.has("kill")) life?.kill();
    if (operation.has("late") || operation.has("twice"))
      void this.#deliverLater(
        request.clone(),
        step,
        operation.has("late") ? hour : operation.between("twice", 1_000, minute),
      );
    if (operation.has("never") || operation.has("late")) return new Response(null, { status: 204 });
    return await this.#receive(request, index, step);
  };

  async #deliverLater(request: Request, { text }: Step, ms: number): Promise<void> {
    this.#delayed += 1;
    for (let wait = ms; ; wait = 5 * minute) {
      await this.#clock.sleep(wait);
      const index = this.#programs.findIndex(({ receive }) => receive !== undefined);
      const { life } = this.#programs[index] ?? {};
      if (life === undefined) continue;
      const step = this.#trace.add(this.#whoIs(life), { kind: "callback", text: `${text} once more` });
      const response = await this.#receive(request.clone(), index, step).catch(() => undefined);
      if (response?.ok) break;
    }
    this.#delayed -= 1;
  }

  async #receive(request: Request, index: number, step: Step): Promise<Response> {
    const { life, receive } = this.#programs[index] ?? {};
    const about = `the response to the ${step.text}`;
    if (life === undefined || receive === undefined || life.isOver) {
      if (step.events.length === 0) this.#trace.end(step, "none: nothing listens", about);
      throw connectionReset();
    }
    const killed = life.end.then(() => {
      throw connectionReset();
    });
    try {
      const response = await Promise.race([life.run(async () => receive(request)), killed]);
      const isLate = request.signal.aborted;
      this.#trace.end(step, `${response.status}${isLate ? ", too late: the service has given up" : ""}`, about);
      return response;
    } catch (error) {
      if (!life.isOver) this.#trace.end(step, failureText(error), about);
      throw error;
    }
  }
}

/** What a body is about, for the trace: the identifier of an order, or a reference. */
function aboutOf(body: ArrayBuffer | null): string | undefined {
  if (body === null || body.byteLength > 100_000) return undefined;
  const content = attempt<unknown>(() => JSON.parse(new TextDecoder().decode(body)));
  const [record] = isObject(content) ? Object.values(content) : [];
  return ["customIdentifier", "imageReference", "shipmentReference"]
    .map((name) => textOf(record, name))
    .find((text) => text !== undefined);
}
