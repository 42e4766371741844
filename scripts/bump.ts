/** `npm run bump`: moves the changesets into CHANGELOG.md, and writes the version that follows from them into each file that has it. */
import { execSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

execSync("changeset version", { stdio: "inherit" });
execSync("npm install --package-lock-only --ignore-scripts --no-audit --no-fund", { stdio: "inherit" });

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const runtime = "src/util/runtime.ts";
writeFileSync(runtime, readFileSync(runtime, "utf8").replace(/(?<=export const version = ")[^"]+/, version));
console.log(`The version is ${version}. Review the difference, and commit it.`);
