import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { clientNames } from "../clients.ts";
import { start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { base, medianOf, ratioOf, type Samples, sample } from "../samples.ts";
import { printTable } from "../table.ts";

const rounds = 15;
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** In `node_modules` of the benchmarks, where the imports of the clients are found. */
const compiled = here("../node_modules/.cold-start/");

/** Writes the clients as JavaScript, so that Node's TypeScript support is not a part of the measured time. */
function compile(): void {
  mkdirSync(compiled, { recursive: true });
  for (const name of ["clients", "loops"]) {
    const code = stripTypeScriptTypes(readFileSync(here(`../${name}.ts`), "utf8"));
    writeFileSync(`${compiled}${name}.mjs`, code.replaceAll('"./loops.ts"', '"./loops.mjs"'));
  }
}

/** The milliseconds from the start of a process to the parsed body of its first response. */
export async function measureColdStart(): Promise<Samples> {
  compile();
  const server = start(here("../percall/server.ts"), 0);
  try {
    const origin = `http://127.0.0.1:${await server.ready}`;
    const module = pathToFileURL(`${compiled}clients.mjs`).href;
    return await sample(rounds, async (name) => {
      const code = `import { clients } from "${module}";
        const { call } = await clients[${JSON.stringify(name)}]("${origin}");
        await call();
        process.stdout.write(String(performance.now()));
        process.exit();`;
      return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", code]));
    });
  } finally {
    server.stop();
    rmSync(compiled, { recursive: true });
  }
}

/** The time of a new process that makes one call. */
export async function run(): Promise<void> {
  prepare();
  const samples = await measureColdStart();
  const rows = clientNames.map((name) => [name, medianOf(samples, name).toFixed(0), ratioOf(samples, name).toFixed(2)]);
  console.log(`From the start of a process to its first response: median of ${rounds} rounds`);
  printTable(["client", "ms", `to ${base}`], rows);
}
