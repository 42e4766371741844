import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The client is measured as users install it: built. The other SDKs are installed on first use. */
export function prepare(): void {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: here("../../"), stdio: "inherit" });
  if (existsSync(here("node_modules"))) return;
  execFileSync("npm", ["ci", "--silent", "--prefix", here(".")], { stdio: "inherit" });
}
