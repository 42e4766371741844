import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { isMissing, runtimes } from "./runtimes.ts";

const page = readFileSync(new URL("../../docs/runtimes.md", import.meta.url), "utf8");
const versions = page.slice(page.indexOf("| Runtime | Version |"));
const row = (name: string) => versions.split("\n").find((line) => line.startsWith(`| ${name} |`)) ?? "";

describe.each(runtimes)("docs/runtimes.md", (runtime) => {
  it.skipIf(isMissing(runtime))(`has the version of ${runtime.name} that the tests use`, async () => {
    const { stdout } = await promisify(execFile)(runtime.program, ["--version"]);
    const [version = "none"] = /\d+\.\d+\.\d+/.exec(stdout) ?? [];
    expect(row(runtime.name)).toContain(`| ${version} |`);
  });
});
