/** What `npm test` does before the tests: lint, types and the build, at the same time, because each of them mostly uses one core. */
import { spawn } from "node:child_process";
import { once } from "node:events";

const codes = await Promise.all(
  ["lint", "typecheck", "build"].map(async (script) => {
    const [code] = await once(spawn(`npm run --silent ${script}`, { shell: true, stdio: "inherit" }), "exit");
    if (code !== 0) console.error(`npm run ${script} failed.`);
    return code;
  }),
);
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
