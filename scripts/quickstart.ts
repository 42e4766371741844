/** Builds the package, and runs the quickstart. The build takes some seconds: the first line comes at once. */
import { spawnSync } from "node:child_process";
import { styleText } from "node:util";

const begun = performance.now();
const line = (sign: string, took: string, text: string) => `${sign} ${"Build".padEnd(12)}${took.padStart(8)}  ${text}`;

console.log(line("…", "", "of the package: about 15 seconds"));
const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", "build"], {
  encoding: "utf8",
  shell: process.platform === "win32",
});
if (status === 0) {
  const took = `${((performance.now() - begun) / 1_000).toFixed(1)} s`;
  console.log(line(styleText("green", "✓"), took, "dist/"));
  await import("../examples/quickstart.ts");
} else {
  console.error(line(styleText("red", "✗"), "", `failed\n${stdout}${stderr}`));
  process.exitCode = 1;
}
