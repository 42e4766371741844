import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runMain } from "./main.ts";
import { useFolder } from "./verify.ts";

const { at } = useFolder();
const module = fileURLToPath(new URL("./simulate/forgetful.ts", import.meta.url));
const simulate = (...args: readonly string[]) => runMain(["simulate", ...args], { NO_COLOR: "1" });

describe("pod-partner simulate", () => {
  it("tells the story of a schedule that breaks the programs of a module, and writes it as a page", async () => {
    const html = at("broken.html");
    const { code, output } = await simulate(module, "--replay", "3 r2:late r2:kill", "--html", html);
    expect(code).toBe(1);
    expect(output).toContain("✗ made twice: shop-");
    expect(output).toContain("forgetful, life 2");
    expect(output).toContain("listStores, life 1");
    expect(output).toContain(`\nReplay it: npx pod-partner simulate ${module} --replay "3 r2:late r2:kill"\n`);
    const page = readFileSync(html, "utf8");
    expect(page).toContain("<h1>Two events break it</h1>");
    expect(page).toContain("✗ the program is killed while the service works on it");
    expect(page).toContain(`--replay &quot;3 r2:late r2:kill&quot;`);
  });

  it("prints a command that replays the schedule with as many lives", async () => {
    const html = at("lives.html");
    const { code, output } = await simulate(module, "--replay", "3 r2:kill", "--lives", "1", "--html", html);
    expect(code).toBe(1);
    expect(output).toContain("did not end in its only life");
    const [, line = ""] = output.match(/^Replay it: npx pod-partner (.*)$/m) ?? [];
    expect(line).toBe(`simulate ${module} --lives 1 --replay "3 r2:kill"`);
    expect(readFileSync(html, "utf8")).toContain("--lives 1 --replay &quot;3 r2:kill&quot;");
  });

  it("ends with 0 when nothing breaks the program", async () => {
    const html = at("survives.html");
    const { code, output } = await simulate(module, "--schedules", "3", "--seed", "2", "--html", html);
    expect(code).toBe(0);
    expect(output).toMatch(/✓ Nothing broke it: 3 schedules of seed 2 in [\d.]+ s\.\n {2}\d+ requests without a fault/);
    expect(readFileSync(html, "utf8")).toContain("<h1>It survives</h1>");
  });

  it("ends with 2 for a module without a program, for options that are invalid, and for a file it cannot write", async () => {
    const refused = async (args: readonly string[], message: string) => {
      const { code, errors } = await simulate(...args);
      expect([code, errors]).toEqual([2, expect.stringContaining(message)]);
    };
    await refused([], "A module is missing: pod-partner simulate ./worker.ts");
    await refused([at("none.ts")], "cannot be loaded");
    await refused([fileURLToPath(import.meta.resolve("./main.ts"))], "must export a function as its default");
    await refused([module, "--schedules", "0"], "--schedules expects a whole number, at least 1");
    await refused([module, "--replay", "r1"], "expected the line of a story");
    await refused([module, "--html", at("none/report.html")], "cannot be written");
  });
});
