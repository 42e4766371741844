// `npm run test:places [part of a name]`: tries the packed package in each place. Installs what the places need.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const run = (program: string, args: readonly string[], env = {}): void => {
  const { status } = spawnSync(program, args, { stdio: "inherit", env: { ...process.env, ...env } });
  if (status !== 0) process.exit(status ?? 1);
};

for (const folder of [here, fileURLToPath(new URL("../runtimes", import.meta.url))])
  run("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"]);
const part = process.argv[2];
run("npx", ["vitest", "run", here, ...(part === undefined ? [] : ["-t", part])], { PLACES: "all" });
