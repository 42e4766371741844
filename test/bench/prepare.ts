import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Builds the package: the client is measured as users install it. */
const build = (): void =>
  void execFileSync("npm", ["run", "--silent", "build"], { cwd: here("../../"), stdio: "inherit" });

/** Builds the package, and installs the other SDKs on first use. */
export function prepare(): void {
  build();
  const { dependencies } = JSON.parse(readFileSync(here("package.json"), "utf8"));
  if (Object.keys(dependencies).every((name) => existsSync(here(`node_modules/${name}`)))) return;
  execFileSync("npm", ["ci", "--silent", "--prefix", here(".")], { stdio: "inherit" });
}
