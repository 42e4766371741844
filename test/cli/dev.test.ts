import { describe, expect, it } from "vitest";
import { runCli, startCli } from "./process.ts";

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

  it("says that a command was not found", async () => {
    const { code, errors } = await runCli(["dev", "--", "no-such-command"]);
    expect(code).toBe(1);
    expect(errors).toContain("pod-partner: The command no-such-command cannot be started: it was not found.\n");
  });
});
