import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { cli, runCli, start, startCli } from "./process.ts";

const node = (code: string): readonly string[] => ["--", process.execPath, "--input-type=module", "--eval", code];

const listStores = `
  const { POD_PARTNER_BASE_URL: url, POD_PARTNER_SECRET_KEY: key } = process.env;
  const response = await fetch(url + "/stores", { headers: { "X-Service-Secret-Key": key } });
  console.log((await response.json()).stores.length);
`;

describe("pod-partner dev", () => {
  it("runs a program against an emulator, and prints nothing on its standard output", async () => {
    const { code, output, errors } = await runCli(["dev", ...node(listStores)]);
    expect({ code, output }).toEqual({ code: 0, output: "3\n" });
    expect(errors).toMatch(/^pod-partner: emulator http:\/\/127\.0\.0\.1:\d+\/v2, page http:\/\/127\.0\.0\.1:\d+\/\n$/);
  });

  it("ends with the program's exit code", async () => {
    expect((await runCli(["dev", ...node("process.exit(7)")])).code).toBe(7);
    expect((await runCli(["dev", ...node("process.kill(process.pid, 'SIGKILL')")])).code).toBe(137);
  });

  it("passes a signal on, and waits for the program", async () => {
    const program =
      "process.on('SIGTERM', () => { console.log('ends'); process.exit(3); }); setInterval(() => {}, 1e3); console.log('up')";
    const running = startCli(["dev", ...node(program)]);
    await running.until(/up/);
    running.kill("SIGTERM");
    expect(await running.ended).toMatchObject({ code: 3 });
    expect(running.output()).toContain("ends");
  });

  const parent = `
    import { spawn } from "node:child_process";
    const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1e3); console.log('child ' + process.pid)"], { stdio: "inherit" });
    console.log("parent " + process.pid);
    setInterval(() => {}, 1e3);
  `;

  /** Whether a process runs. */
  const isRunning = (pid: string | undefined): boolean => {
    const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
    return stdout.trim() !== "" && !stdout.startsWith("Z");
  };

  describe.each([
    ["without a terminal", undefined],
    ["in a terminal", "script"],
  ] as const)("%s", (where, terminal) => {
    // A terminal sends Ctrl-C to the program, too.
    const signals = (["SIGINT", "SIGTERM", "SIGHUP"] as const).filter(
      (one) => where !== "in a terminal" || one !== "SIGINT",
    );

    it.each(signals)("ends the program and what it started at %s", async (signal) => {
      const command = [process.execPath, cli, "dev", ...node(parent)];
      const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
      const running =
        terminal === undefined
          ? start(command[0] ?? "", command.slice(1))
          : start(terminal, ["-qefc", `echo dev $$; exec ${quoted}`, "/dev/null"]);
      const [, of] = await running.until(/parent (\d+)/);
      const [, child] = await running.until(/child (\d+)/);
      const [, dev] = terminal === undefined ? [] : await running.until(/dev (\d+)/);
      process.kill(Number(dev ?? running.pid), signal);
      await running.ended;
      expect([isRunning(of), isRunning(child)]).toEqual([false, false]);
    });
  });

  it("ends a program that does not end, at the second signal", async () => {
    const stubborn = "process.on('SIGTERM', () => console.log('stays')); setInterval(() => {}, 1e3); console.log('up')";
    const running = startCli(["dev", ...node(stubborn)]);
    await running.until(/up/);
    process.kill(Number(running.pid), "SIGTERM");
    await running.until(/stays/);
    process.kill(Number(running.pid), "SIGTERM");
    expect(await running.ended).toMatchObject({ code: 137 });
  });

  it("says that a command was not found", async () => {
    const { code, errors } = await runCli(["dev", "--", "no-such-command"]);
    expect(code).toBe(1);
    expect(errors).toContain("pod-partner: The command no-such-command cannot be started: it was not found.\n");
  });
});
