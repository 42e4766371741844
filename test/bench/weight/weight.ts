import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import { bundleMinimal } from "./minimal-bundle.ts";
import { Project } from "./project.ts";

/** Each subject runs in a new process and is compared with another of the same round: the machine is the same for both. */
const rounds = 21;

/** Milliseconds from the start of a process until all of `packages` are loaded. */
function load(from: string, packages: readonly string[]): number {
  const imports = packages.map((name) => `await import(${JSON.stringify(name)});`).join(" ");
  const code = `${imports} process.stdout.write(String(performance.now()));`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", code], { cwd: from }));
}

/** The cost of each import beyond that of an empty program. */
function measureImports(project: Project) {
  const bench = fileURLToPath(new URL("../", import.meta.url));
  const times = Array.from({ length: rounds }, () => {
    const bare = load(project.path, []);
    return { own: load(project.path, ["pod-partner"]) - bare, openai: load(bench, ["openai"]) - bare };
  });
  return { own: median(times.map(({ own }) => own)), openai: median(times.map(({ openai }) => openai)) };
}

const row = (what: string, measured: number, budget?: number): string[] => [
  what,
  ...[measured, budget].map((value) => (value === undefined ? "" : value.toFixed(1))),
];

/** The cost of the package for a program that only imports it. */
export async function run(): Promise<void> {
  prepare();
  const project = new Project();
  try {
    const { own, openai } = measureImports(project);
    const { entry, calls } = bundleMinimal(project.path);
    printTable(
      ["", "measured", "budget"],
      [
        row("import over bare node, ms", own, 30),
        row("  openai", openai),
        row("bundle of a minimal use, min + gzip, kB: what loads before the first call", entry / 1e3, 90),
        row("  with what it loads for calls and retries", calls / 1e3, 90),
        row("installed, MB", project.installed(), 3),
        row("tsc of a use over an empty file, MB", project.compiled("program.ts") - project.compiled("empty.ts"), 10),
      ],
    );
  } finally {
    project.remove();
  }
}
