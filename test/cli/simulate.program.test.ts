import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "./process.ts";
import { useFolder } from "./verify.ts";

describe("pod-partner simulate in a folder of CommonJS", () => {
  const { at } = useFolder();
  it.each([
    ["ts", 'import "node:fs";'],
    ["js", "export default () => {};"],
  ])("says what to do with an ES module in .%s", async (ending, code) => {
    const path = at(`commonjs/sim.${ending}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(at("commonjs/package.json"), JSON.stringify({ type: "commonjs" }));
    writeFileSync(path, code);
    const { code: exit, errors } = await runCli(["simulate", path]);
    expect(exit).toBe(2);
    expect(errors).toMatch(
      /cannot be loaded: .+: name it \S+sim\.m[jt]s, or set "type": "module" in its package\.json\.\n/,
    );
    expect(errors).toContain(`name it ${at(`commonjs/sim.m${ending}`)},`);
  });
});
