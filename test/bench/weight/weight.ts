import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import manifest from "../../../package.json" with { type: "json" };
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
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
    return {
      own: load(project.path, ["pod-partner"]) - bare,
      dependencies: load(project.path, Object.keys(manifest.dependencies)) - bare,
      openai: load(bench, ["openai"]) - bare,
    };
  });
  const of = (subject: "own" | "dependencies" | "openai") => median(times.map((round) => round[subject]));
  return { own: of("own"), dependencies: of("dependencies"), openai: of("openai") };
}

const row = (what: string, measured: number, budget?: number, goal?: number): string[] => [
  what,
  ...[measured, budget, goal].map((value) => (value === undefined ? "" : value.toFixed(1))),
];

/** The cost of the package for a program that only imports it. */
export async function run(): Promise<void> {
  prepare();
  const project = new Project();
  try {
    const { own, dependencies, openai } = measureImports(project);
    const { minified, zipped } = project.bundled();
    printTable(
      ["", "measured", "budget", "goal"],
      [
        row("import over bare node, ms", own, dependencies + 15, openai / 2),
        row("  its bare dependencies", dependencies),
        row("  openai", openai),
        row("bundle of a minimal use, min + gzip, kB", zipped, 60, 40),
        row("  minified alone", minified),
        row("installed with its dependencies, MB", project.installed(), 10),
        row("tsc of a use over an empty file, MB", project.compiled("program.ts") - project.compiled("empty.ts"), 25),
      ],
    );
  } finally {
    project.remove();
  }
}
