import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import type { Made, RunningEmulator, StartEmulatorOptions } from "pod-partner/testing";
import { onAbort } from "../util/abort-signals.ts";
import { visible } from "../util/visible.ts";
import { type Ended, onWindows, type Program, start, stop } from "./program.ts";
import { type CallbackScene, createPost, deliver, judgeCallbacks, type Post, repeatSoon } from "./verify-callbacks.ts";
import type { FaultRow, Kill, Usage } from "./verify-catalogue.ts";
import { hammering, leaks, unread, type VerifyFinding } from "./verify-compare.ts";
import { startFailure } from "./world-file.ts";

/** How a server is used. */
interface Server {
  /** The URL that responds with 2xx when it is ready. */
  readonly ready: string;
  /** The command that uses it. */
  readonly drive: string;
  /** The command that lets it look for what no callback has reported. */
  readonly sweep: string | undefined;
}

/** How the program of the user is run. */
export interface Setup {
  readonly program: readonly string[];
  readonly server: Server | undefined;
  /** The URL of its callbacks: then each order ships when it was made. */
  readonly callbackUrl: string | undefined;
  readonly orders: number;
  readonly seed: number;
  /** The file that says what is assumed of the service. */
  readonly assumptions: string | undefined;
  /** Further environment variables of the program. */
  readonly variables: Readonly<Record<string, string>>;
  /** Rows at a time. */
  readonly parallel: number;
  /** Milliseconds for each run. */
  readonly timeout: number;
}

/** What one run has made, and how it ended. */
export interface VerifyRun {
  readonly result: Made;
  readonly usage: Usage;
  /** Milliseconds. */
  readonly took: number;
  /** The exit code of the program, or of the command that uses the server. */
  readonly code: number;
  /** What is wrong with this run alone, without a comparison. */
  readonly findings: readonly VerifyFinding[];
  /** The last lines that the program printed. */
  readonly output: string;
}

const lastLines = 20;

/** The requests that are read. A run with more of them cannot be judged. */
const maxRequests = { entries: 10_000, bytes: 256 * 2 ** 20 };

/** Milliseconds for which callbacks that are held back wait for the end of the command. */
const patience = 5_000;

/** The last lines of what several programs print. */
function tail() {
  let text = "";
  return {
    listen: ({ child }: Program) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding("utf8").on("data", (chunk: string) => {
          text = (text + chunk).slice(-8_192);
        });
      }
    },
    // What a program prints must not colour the report, or move its cursor.
    text: () => {
      const plain = stripVTControlCharacters(text).replace(/\r\n?/g, "\n");
      return visible(plain).trimEnd().split("\n").slice(-lastLines).join("\n");
    },
  };
}

/** Why a request got no response: `ECONNREFUSED`. */
const reasonOf = (error: unknown): string =>
  String(Object((error as Error).cause).code ?? (error as Error).message ?? error);

/** Waits until a URL responds with 2xx. If it never does, returns what happened instead. */
async function untilReady(url: string, signal: AbortSignal): Promise<string | undefined> {
  for (let last = "no response"; ; await sleep(50)) {
    if (signal.aborted) return last;
    try {
      const response = await fetch(url, { signal });
      await response.body?.cancel();
      if (response.ok) return undefined;
      last = `status ${response.status}`;
    } catch (error) {
      if (!signal.aborted) last = reasonOf(error);
    }
  }
}

/** Kills a program some milliseconds after its request arrived. False if the work ended before. */
async function killAt(
  { program, done }: Started,
  { requests }: RunningEmulator,
  { on, nth, after }: Kill,
): Promise<boolean> {
  let hasEnded = false;
  const end = done.then(() => {
    hasEnded = true;
  });
  const arrived = () => requests.filter(({ call = "" }) => on.includes(call)).length;
  while (!hasEnded && arrived() < nth) await Promise.race([sleep(5), end]);
  await Promise.race([sleep(after), end]);
  if (hasEnded) return false;
  await stop(program, "SIGKILL");
  return true;
}

/** Waits until the service has done what a fault has delayed by `ms`. */
async function settle({ requests, clock }: RunningEmulator, ms: number): Promise<void> {
  const struck = requests.findLast(({ fault }) => fault !== undefined);
  if (struck !== undefined) await sleep(Math.max(0, struck.time + ms - clock.now()));
}

/** How the program ended, and what is wrong with its callbacks. */
interface Execution {
  readonly code: number;
  readonly findings: readonly VerifyFinding[];
}

/** A program that runs; or a server that is ready, and the command that uses it. */
interface Started {
  readonly program: Program;
  /** The end of the program, or of the command. */
  readonly done: Promise<Ended>;
  readonly driver?: Program;
}

/** A server that is not ready, and why. */
interface Unready {
  readonly finding: VerifyFinding;
}

type Launch = (command: readonly string[]) => Program;

const shell = (command: string): readonly string[] => (onWindows ? ["cmd", "/c", command] : ["sh", "-c", command]);

/** Starts a server, and waits until it is ready. */
async function startServer(
  program: readonly string[],
  { ready }: Server,
  launch: Launch,
  signal: AbortSignal,
): Promise<Program | Unready> {
  const server = launch(program);
  const stopped = new AbortController();
  const never = untilReady(ready, AbortSignal.any([signal, stopped.signal])).then((last) =>
    last === undefined ? undefined : `the program was never ready: ${ready} did not respond with 2xx (${last})`,
  );
  // At the time-out, it is killed.
  const ended = server.ended.then(({ code }) =>
    signal.aborted ? never : `the program ended with exit code ${code} before it was ready`,
  );
  const text = await Promise.race([never, ended]).finally(() => stopped.abort());
  return text === undefined ? server : { finding: { kind: "unfinished", text } };
}

/** Starts a command: two processes of it if the row says so. Then it ends when both have ended, and fails when one does. */
function launchWork(
  command: readonly string[],
  { twice }: FaultRow,
  launch: Launch,
): Pick<Started, "program" | "done"> {
  const program = launch(command);
  if (twice === undefined) return { program, done: program.ended };
  const both = Promise.all([program.ended, launch(command).ended]);
  return { program, done: both.then(([one, other]) => (one.code === 0 ? other : one)) };
}

/** Runs the program to its end. A row may kill it, and start it again. */
async function execute(
  { program: command, server }: Setup,
  { emulator, post }: Pick<CallbackScene, "emulator" | "post">,
  row: FaultRow,
  baseline: Usage | undefined,
  launch: Launch,
  signal: AbortSignal,
): Promise<Execution> {
  const begin = async (): Promise<Started | Unready> => {
    if (server === undefined) return launchWork(command, row, launch);
    const program = await startServer(command, server, launch, signal);
    if ("finding" in program) return program;
    const { program: driver, done } = launchWork(shell(server.drive), row, launch);
    return { program, done, driver };
  };
  let started = await begin();
  if ("finding" in started) return { code: 1, findings: [started.finding] };
  const kill = baseline === undefined ? undefined : row.kill?.(baseline);
  if (kill !== undefined && (await killAt(started, emulator, kill))) {
    started.driver?.kill("SIGKILL");
    started = await begin();
    if ("finding" in started) return { code: 1, findings: [started.finding] };
  }
  let { program } = started;
  const { done } = started;
  if (server === undefined) {
    const { code } = await done;
    await settle(emulator, row.settle ?? 0);
    return { code, findings: [] };
  }
  const unready: VerifyFinding[] = [];
  const restart = async (how: NodeJS.Signals) => {
    await stop(program, how);
    const again = await startServer(command, server, launch, signal);
    if ("finding" in again) unready.push(again.finding);
    else program = again;
  };
  const sweep = async (): Promise<readonly VerifyFinding[]> => {
    if (server.sweep === undefined) return [];
    const { code } = await launch(shell(server.sweep)).ended;
    return code === 0 ? [] : [{ kind: "failed", text: `the sweep command ended with exit code ${code}` }];
  };
  const scene: CallbackScene = { emulator, post, restart, sweep };
  const repeating = new AbortController();
  const repeats = repeatSoon(row, emulator, AbortSignal.any([signal, repeating.signal]));
  const work = async () => {
    // A command may wait until the server has seen the shipment.
    await Promise.race([done, sleep(patience, undefined, { ref: false })]);
    await deliver(row, scene);
    return done;
  };
  const worked = work();
  // An error of the repeats ends the row at once.
  const { code } = await Promise.race([worked, repeats.then(() => worked)]);
  repeating.abort();
  await repeats;
  signal.throwIfAborted();
  await settle(emulator, row.settle ?? 0);
  const findings = unready.length > 0 ? unready : await judgeCallbacks(row, scene);
  await stop(program);
  return { code, findings };
}

/** The options of the emulator for a row. */
function optionsOf(
  { seed, orders, callbackUrl, assumptions }: Setup,
  row: FaultRow,
  baseline: Usage | undefined,
  post: Post,
): StartEmulatorOptions {
  const own = baseline === undefined ? {} : row.options?.(baseline);
  return {
    port: 0,
    seed: { number: seed, orders },
    renderDuration: 500,
    requestLog: maxRequests,
    // A service that accepts an identifier twice: else it would hide a program that sends an order again.
    repeatedIdentifier: "create",
    ...(assumptions === undefined ? {} : { assumptions }),
    ...(callbackUrl === undefined
      ? {}
      : { callbackUrl, callbacks: { fetch: post.fetch }, automation: { shipping: 200, parts: row.parts ?? 1 } }),
    ...own,
  };
}

function usageOf({ requests, callbacks }: RunningEmulator, tokens: number): Usage {
  const calls = new Map<string, number>();
  for (const { call = "" } of requests) calls.set(call, (calls.get(call) ?? 0) + 1);
  const creations = requests.where({ on: "orders.create" });
  // One that the program did not wait for has no status, and its order is made.
  const orders = creations.flatMap(({ status = 200 }, index) => (status >= 200 && status < 300 ? [index + 1] : []));
  return {
    calls,
    orders,
    requests: requests.at(-1)?.id ?? 0,
    rendertokens: tokens,
    callbacks: callbacks.list().length,
  };
}

const folders = new Set<string>();

/** Removes the folders of all rows that are running, before the process ends at once. */
export function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** Runs the program once, with what the row does to it. `baseline` is what the run without a fault used. */
export async function runOnce(setup: Setup, row: FaultRow, baseline: Usage | undefined): Promise<VerifyRun> {
  const { madeIn, startEmulator } = await import("pod-partner/testing");
  const post = createPost(row);
  const emulator = await startEmulator(optionsOf(setup, row, baseline, post)).catch((error: unknown) => {
    throw startFailure(error);
  });
  // At once: a signal must not end the process before the folder is noted.
  const folder = mkdtempSync(join(tmpdir(), "pod-partner-verify-"));
  folders.add(folder);
  const began = performance.now();
  const signal = AbortSignal.timeout(setup.timeout);
  const output = tail();
  const programs: Program[] = [];
  try {
    const { faults = [] } = row;
    // Only the run without a fault has no baseline.
    const given = typeof faults === "function" ? baseline && faults(baseline) : faults;
    for (const fault of given ?? []) emulator.faults.add(fault);
    if (baseline !== undefined) row.begin?.(emulator, baseline);
    const { baseUrl, secretKey } = emulator;
    const environment = {
      ...setup.variables,
      POD_PARTNER_BASE_URL: baseUrl,
      POD_PARTNER_SECRET_KEY: secretKey,
      ...(setup.assumptions === undefined ? {} : { POD_PARTNER_ASSUMPTIONS: setup.assumptions }),
      POD_PARTNER_VERIFY_ROW: row.id,
      POD_PARTNER_VERIFY_FOLDER: folder,
    };
    const launch = (command: readonly string[]) => {
      const program = start(command, { environment, output: "pipe" });
      programs.push(program);
      output.listen(program);
      onAbort(signal, () => program.kill("SIGKILL"));
      return program;
    };
    const { code, findings: own } = await execute(setup, { emulator, post }, row, baseline, launch, signal).catch(
      (error: unknown) => {
        if (!signal.aborted) throw error;
        return { code: 1, findings: [] };
      },
    );
    const took = performance.now() - began;
    const world = emulator.world();
    const tokens = world.organizations.reduce((sum, { rendertokens }) => sum + rendertokens.used, 0);
    const usage = usageOf(emulator, tokens);
    const findings: VerifyFinding[] = [...own, ...leaks(emulator.requests), ...unread(emulator.requests)];
    if (signal.aborted && !findings.some(({ kind }) => kind === "unfinished")) {
      const what = setup.server === undefined ? "the program" : "the drive command";
      findings.push({ kind: "unfinished", text: `${what} did not end within ${setup.timeout / 1_000} s (--timeout)` });
    }
    if (baseline !== undefined) findings.push(...hammering(emulator.requests, baseline.requests));
    return { result: madeIn(world), usage, took, code, findings, output: output.text() };
  } finally {
    // What a program has started may outlive it.
    for (const { kill } of programs) kill("SIGKILL");
    await emulator.close();
    await rm(folder, { recursive: true, force: true });
    folders.delete(folder);
  }
}
