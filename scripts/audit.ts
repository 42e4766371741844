/**
 * `npm run audit`: asks the registry for known vulnerabilities of the code that the build contains. Those of tools that only develop and test
 * the package are not reported: they reach nobody. Some mirrors of the registry offer no audit: then it says so, and succeeds.
 */
import { spawnSync } from "node:child_process";
import manifest from "../package.json" with { type: "json" };

/** What `npm audit --json` prints. */
interface Report {
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly nodes: readonly string[] }>>;
}

const { stdout } = spawnSync("npm", ["audit", "--json"], { encoding: "utf8" });
const { message, vulnerabilities }: Report = stdout.startsWith("{") ? JSON.parse(stdout) : {};
if (vulnerabilities === undefined) {
  console.warn(`Not audited: ${message ?? "the registry offers no audit"}`);
} else {
  const vulnerable = Object.keys(manifest.inlinedDependencies).filter((name) =>
    vulnerabilities[name]?.nodes.includes(`node_modules/${name}`),
  );
  for (const name of vulnerable) console.error(`${name} is contained in the build: ${vulnerabilities[name]?.severity}`);
  if (vulnerable.length > 0) process.exitCode = 1;
  else console.log("No known vulnerability in the code that the build contains.");
}
