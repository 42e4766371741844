import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import type { RunningEmulator, StartEmulatorOptions } from "pod-partner/testing";
import { onAbort } from "../util/abort-signals.ts";
import { onWindows, type Program, start } from "./program.ts";
import type { Kill, Row, Usage } from "./verify-catalogue.ts";
import { type Finding, hammering, leaks, type Result, resultOf } from "./verify-compare.ts";

/** How the program of the user is run. */
export interface Setup {
  readonly program: readonly string[];
  /** Of a server: the URL that responds when it is ready, and the command that uses it. */
  readonly server: { readonly ready: string; readonly drive: string } | undefined;
  /** The URL of its callbacks: then each order ships when it was made. */
  readonly callbackUrl: string | undefined;
  readonly orders: number;
  readonly seed: number;
  /** Milliseconds for each run. */
  readonly timeout: number;
}

/** What one run has made, and how it ended. */
export interface Run {
  readonly result: Result;
  readonly usage: Usage;
  /** Milliseconds. */
  readonly took: number;
  /** The exit code of the program, or of the command that uses the server. */
  readonly code: number;
  /** What is wrong with this run alone, without a comparison. */
  readonly findings: readonly Finding[];
  /** The last lines that the program printed. */
  readonly output: string;
}

const lastLines = 20;

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
      const plain = stripVTControlCharacters(text).replace(/[^\P{Cc}\n\t]/gu, "");
      return plain.trimEnd().split("\n").slice(-lastLines).join("\n");
    },
  };
}

/** Waits until a URL responds with 2xx. */
async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const response = await fetch(url, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok === true) return;
    await sleep(50);
  }
}

/** Ends a server as a process manager does. */
async function stop({ kill, ended }: Program): Promise<void> {
  kill("SIGTERM");
  const killed = setTimeout(kill, 5_000, "SIGKILL");
  await ended;
  clearTimeout(killed);
}

/** The callbacks that were delivered, each once more. */
async function repeatCallbacks({ callbacks }: RunningEmulator): Promise<void> {
  await callbacks.idle();
  for (const { id } of callbacks.list()) callbacks.resend(id);
  await callbacks.idle();
}

/** Calls the URL of a callback without what only the service knows: its query. */
async function forge({ callbacks }: RunningEmulator): Promise<readonly Finding[]> {
  await callbacks.idle();
  const [sent] = callbacks.list();
  if (sent === undefined) return [];
  const url = new URL(sent.url);
  const names = [...url.searchParams.keys()].filter((name) => /token|key|secret|sign/i.test(name));
  for (const name of names) url.searchParams.set(name, "forged");
  if (names.length === 0) return [{ kind: "callback", text: "the URL has no token: anybody can call it" }];
  const response = await fetch(url);
  await response.body?.cancel();
  return response.ok ? [{ kind: "callback", text: `a callback with a wrong ${names.join(", ")} was accepted` }] : [];
}

/** Kills a program some milliseconds after its first request of a kind arrived. False if it ended before. */
async function killAt(
  { kill, ended }: Program,
  { requests }: RunningEmulator,
  { on, nth = 1, after }: Kill,
): Promise<boolean> {
  let hasEnded = false;
  const end = ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && requests.filter(({ call }) => call === on).length < nth) await Promise.race([sleep(5), end]);
  await Promise.race([sleep(after), end]);
  if (hasEnded) return false;
  kill("SIGKILL");
  await end;
  return true;
}

/** Makes the time pass after which the service repeats a callback, and says whether each was accepted in the end. */
async function settleCallbacks({ callbacks, clock, requests }: RunningEmulator): Promise<readonly Finding[]> {
  const open = () => callbacks.list().filter(({ status }) => status !== "delivered").length;
  await callbacks.idle();
  for (let repeat = 0; repeat < 3 && open() > 0; repeat += 1) {
    await clock.advance({ minutes: 6 });
    await callbacks.idle();
  }
  const unread = callbacks
    .list()
    .filter(({ orderReference, tries }) => {
      const [first] = tries;
      const reads = requests.filter(({ method, path }) => method === "GET" && path.includes(orderReference));
      return first !== undefined && !reads.some(({ time }) => time >= first.at);
    })
    .map(({ orderReference }) => orderReference);
  return [
    ...(open() > 0 ? [{ kind: "callback", text: `callbacks that were never accepted: ${open()}` } as const] : []),
    ...(unread.length > 0
      ? [{ kind: "callback", text: `orders that were not read after their callback: ${unread.length}` } as const]
      : []),
  ];
}

/** How the program ended, and what is wrong with its callbacks. */
interface Execution {
  readonly code: number;
  readonly findings: readonly Finding[];
}

/** Runs the program to its end; or a server, and the command that uses it. A row may kill the program, and start it again. */
async function execute(
  { program: command, server }: Setup,
  emulator: RunningEmulator,
  row: Row,
  launch: (command: readonly string[]) => Program,
  signal: AbortSignal,
): Promise<Execution> {
  const begin = async () => {
    const program = launch(command);
    if (server === undefined) return { program, done: program.ended };
    const early = await Promise.race([untilReady(server.ready, signal), program.ended]);
    if (early !== undefined) return { program, done: Promise.resolve({ code: early.code || 1 }) };
    const driver = launch(onWindows ? ["cmd", "/c", server.drive] : ["sh", "-c", server.drive]);
    return { program, done: driver.ended, driver };
  };
  let { program, done, driver } = await begin();
  if (row.kill !== undefined && (await killAt(program, emulator, row.kill))) {
    driver?.kill("SIGKILL");
    ({ program, done } = await begin());
  }
  const { code } = await done;
  if (server === undefined) return { code, findings: [] };
  const unaccepted = await settleCallbacks(emulator);
  const forged = row.callbacks === "forged" ? await forge(emulator) : [];
  if (row.callbacks === "twice") await repeatCallbacks(emulator);
  await stop(program);
  return { code, findings: [...unaccepted, ...forged] };
}

/** The options of the emulator for a row. */
function optionsOf({ seed, orders, callbackUrl }: Setup, row: Row, baseline: Usage | undefined): StartEmulatorOptions {
  const own = baseline === undefined ? {} : row.options?.(baseline);
  return {
    port: 0,
    seed: { number: seed, orders },
    renderDuration: 500,
    requestLog: { entries: 10_000 },
    // A service that accepts an identifier twice: else it would hide a program that sends an order again.
    repeatedIdentifier: "create",
    ...(callbackUrl === undefined ? {} : { callbackUrl, automation: { shipping: 200 } }),
    ...own,
  };
}

function usageOf({ requests, callbacks }: RunningEmulator, tokens: number): Usage {
  const calls = new Map<string, number>();
  for (const { call = "" } of requests) calls.set(call, (calls.get(call) ?? 0) + 1);
  return { calls, requests: requests.length, rendertokens: tokens, callbacks: callbacks.list().length };
}

const folders = new Set<string>();

/** Removes the folders of all rows that are running, before the process ends at once. */
export function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** Runs the program once, with what the row does to it. `baseline` is what the run without a fault used. */
export async function runOnce(setup: Setup, row: Row, baseline: Usage | undefined): Promise<Run> {
  const { startEmulator } = await import("pod-partner/testing");
  const emulator = await startEmulator(optionsOf(setup, row, baseline));
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-verify-"));
  folders.add(folder);
  const began = performance.now();
  const signal = AbortSignal.timeout(setup.timeout);
  const output = tail();
  const programs: Program[] = [];
  try {
    for (const fault of row.faults ?? []) emulator.faults.add(fault);
    if (baseline !== undefined) row.begin?.(emulator, baseline);
    const { baseUrl, secretKey } = emulator;
    const environment = {
      POD_PARTNER_BASE_URL: baseUrl,
      POD_PARTNER_SECRET_KEY: secretKey,
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
    const { code, findings: own } = await execute(setup, emulator, row, launch, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return { code: 1, findings: [] };
    });
    const took = performance.now() - began;
    await sleep(row.settle ?? 0);
    const world = emulator.world();
    const tokens = world.organizations.reduce((sum, { rendertokens }) => sum + rendertokens.used, 0);
    const usage = usageOf(emulator, tokens);
    const findings: Finding[] = [...own, ...leaks(emulator.requests)];
    if (signal.aborted) findings.push({ kind: "unfinished", text: `not finished after ${setup.timeout / 1_000} s` });
    if (baseline !== undefined) findings.push(...hammering(emulator.requests, baseline.requests));
    return { result: resultOf(world), usage, took, code, findings, output: output.text() };
  } finally {
    // What a program has started may outlive it.
    for (const { kill } of programs) kill("SIGKILL");
    await emulator.close();
    await rm(folder, { recursive: true, force: true });
    folders.delete(folder);
  }
}
