import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { baseline } from "../clients.ts";
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
function measureImports(projects: readonly Project[]) {
  const bench = fileURLToPath(new URL("../", import.meta.url));
  const times = Array.from({ length: rounds }, () => {
    const bare = load(bench, []);
    return [load(bench, ["openai"]) - bare, ...projects.map(({ path }) => load(path, ["pod-partner"]) - bare)];
  });
  const [openai = Number.NaN, ...own] =
    times[0]?.map((_, index) => median(times.map((each) => each[index] ?? Number.NaN))) ?? [];
  return { openai, own };
}

const row = (what: string, budget: number, measured: readonly number[]): string[] => [
  what,
  budget.toFixed(1),
  ...measured.map((value) => value.toFixed(1)),
];

/** The cost of the package for a program that only imports it. */
export async function run(): Promise<void> {
  prepare();
  const projects = [new Project(), ...(baseline === undefined ? [] : [new Project(baseline)])];
  try {
    const { openai, own } = measureImports(projects);
    const bundles = projects.map(({ path }) => bundleMinimal(path));
    const compiled = projects.map((project) => project.compiled("program.ts") - project.compiled("empty.ts"));
    console.log(`import of openai over bare node: ${openai.toFixed(1)} ms`);
    printTable(
      ["", "budget", "measured", ...(baseline === undefined ? [] : ["before"])],
      [
        row("import over bare node, ms", 18, own),
        row(
          "bundle of a minimal use, min + gzip, kB: what loads before the first call",
          85,
          bundles.map(({ entry }) => entry / 1e3),
        ),
        row(
          "  with what it loads for calls and retries",
          85,
          bundles.map(({ calls }) => calls / 1e3),
        ),
        row(
          "installed, MB",
          3.3,
          projects.map((project) => project.installed()),
        ),
        row("tsc of a use over an empty file, MB", 10, compiled),
      ],
    );
  } finally {
    for (const project of projects) project.remove();
  }
}
