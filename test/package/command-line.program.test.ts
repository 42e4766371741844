import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { start } from "../cli/process.ts";
import { installedProject, root } from "./tarball.ts";

/** Runs `npx pod-partner …` in a project. `npx` may not download anything. */
const npx = (project: string, args: readonly string[], environment: Record<string, string> = {}) =>
  start("npx", ["--no-install", "--prefix", project, "pod-partner", ...args], environment);

describe("the command line in the packed tarball", () => {
  it("runs `npx pod-partner emulator` in a project that has only the package, until a signal", async () => {
    const project = await installedProject();
    const running = npx(project, ["emulator", "--port", "0"]);
    const [, baseUrl = ""] = await running.until(/Base URL +(\S+)[\s\S]*Ctrl-C/);
    const response = await fetch(`${baseUrl}/stores`, { headers: { "X-Service-Secret-Key": "emulator-secret-key" } });
    expect(response.status).toBe(200);
    await running.until(/ GET +200 .+ \/v2\/stores$/m);
    for (const file of ["/", "/_emulator/page/app.js", "/_emulator/page/app.css", "/_emulator/page/icon.svg"]) {
      expect((await fetch(new URL(file, baseUrl))).status).toBe(200);
    }
    running.kill("SIGINT");
    await running.ended;
    await expect(fetch(baseUrl)).rejects.toThrow();
  });

  it("runs `npx pod-partner doctor`, and returns its exit code", async () => {
    await using emulator = await startEmulator();
    const project = await installedProject();
    const environment = { POD_PARTNER_BASE_URL: emulator.baseUrl, POD_PARTNER_SECRET_KEY: emulator.secretKey };
    const fine = npx(project, ["doctor"], environment);
    expect(await fine.ended).toEqual({ code: 0, signal: null });
    expect(fine.output()).toContain("Everything is fine.");
    const wrong = npx(project, ["doctor", "--json"], { ...environment, POD_PARTNER_SECRET_KEY: "another-secret-key" });
    expect(await wrong.ended).toEqual({ code: 1, signal: null });
    expect(JSON.parse(wrong.output())).toMatchObject({ ok: false, checks: { key: { status: "failed" } } });
  });

  it("is one file, which loads the entry points on demand, and which no entry point loads", async () => {
    const code = await readFile(join(root, "dist/cli.js"), "utf8");
    const imports = [...code.matchAll(/\bfrom ?"([\w:./-]+)"/g)].map(([, name = ""]) => name);
    expect(imports.length).toBeGreaterThan(0);
    expect(imports.filter((name) => !name.startsWith("node:"))).toEqual([]);
    expect(new Set([...code.matchAll(/\bimport\("(.+?)"\)/g)].map(([, name]) => name))).toEqual(
      new Set(["pod-partner", "pod-partner/testing"]),
    );
    const files = (await readdir(join(root, "dist"))).filter((name) => name.endsWith(".js") && name !== "cli.js");
    const texts = await Promise.all(files.map((name) => readFile(join(root, "dist", name), "utf8")));
    expect(texts.filter((text) => /src\/cli\/|cli\.js/.test(text))).toEqual([]);
  });
});
