import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, printTable } from "../table.ts";

const rounds = 15;
const root = fileURLToPath(new URL("../../../", import.meta.url));
const worker = fileURLToPath(new URL("./worker.ts", import.meta.url));

/** A folder that has the package from its tarball, and nothing else. */
function install(): string {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
  const folder = mkdtempSync(join(tmpdir(), "pod-partner-start-"));
  const options = { cwd: folder, encoding: "utf8" } as const;
  const [{ filename }] = JSON.parse(execFileSync("npm", ["pack", "--json", "--ignore-scripts", root], options));
  mkdirSync(join(folder, "node_modules/pod-partner"), { recursive: true });
  execFileSync("tar", ["-xzf", filename, "-C", "node_modules/pod-partner", "--strip-components", "1"], options);
  return folder;
}

/** Milliseconds from the start of the process until its output shows the base URL, and until it has responded once. */
async function measureCommand(folder: string): Promise<{ readonly output: number; readonly response: number }> {
  const begun = performance.now();
  const program = ["node_modules/pod-partner/dist/cli.js", "emulator", "--port", "0"];
  const child = spawn(process.execPath, program, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  try {
    let printed = "";
    for await (const chunk of child.stdout) {
      printed += chunk;
      if (printed.includes("curl")) break;
    }
    const output = performance.now() - begun;
    const [, baseUrl = ""] = /Base URL\s+(\S+)/.exec(printed) ?? [];
    const [response] = await once(get(`${baseUrl}/stores`, { agent: false }), "response");
    response.resume();
    await once(response, "end");
    return { output, response: performance.now() - begun };
  } finally {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
  }
}

/** Milliseconds of a process that does nothing, for comparison. */
function measureNode(): number {
  const begun = performance.now();
  execFileSync(process.execPath, ["--eval", "0"]);
  return performance.now() - begun;
}

/** Milliseconds in a new process that has imported the module: the first emulator, and the fifth. */
function measureInProcess(folder: string): { readonly first: number; readonly fifth: number } {
  const module = join(folder, "node_modules/pod-partner/dist/testing.js");
  return JSON.parse(execFileSync(process.execPath, [worker, module], { encoding: "utf8" }));
}

/** The time from the command, or from `startEmulator()`, to the first response. */
export async function run(): Promise<void> {
  const folder = install();
  try {
    const nodes = [];
    const commands = [];
    const inProcess = [];
    for (let round = 0; round < rounds; round += 1) {
      nodes.push(measureNode());
      commands.push(await measureCommand(folder));
      inProcess.push(measureInProcess(folder));
    }
    const row = (name: string, values: readonly number[]) => [
      name,
      ...[values[0] ?? Number.NaN, median(values), Math.max(...values)].map((value) => value.toFixed(0)),
    ];
    console.log(`Milliseconds to the first response of the emulator: ${rounds} rounds`);
    printTable(
      ["", "first round", "median", "slowest"],
      [
        row("an empty program of Node", nodes),
        row(
          "command: output",
          commands.map(({ output }) => output),
        ),
        row(
          "command: response",
          commands.map(({ response }) => response),
        ),
        row(
          "startEmulator(), first of a process",
          inProcess.map(({ first }) => first),
        ),
        row(
          "startEmulator(), fifth of a process",
          inProcess.map(({ fifth }) => fifth),
        ),
      ],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
