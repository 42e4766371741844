import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createEmulator } from "pod-partner/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { runMain } from "./main.ts";
import { startCli } from "./process.ts";

const headers = { "X-Service-Secret-Key": "emulator-secret-key" };

/** The response of the control that saves the world, as text. */
async function saved(baseUrl: string): Promise<string> {
  const control = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
  const response = await fetch(new URL("/_emulator/world", baseUrl), control);
  return await response.text();
}

async function startEmulator(args: readonly string[]) {
  const running = startCli(["emulator", "--port", "0", ...args]);
  const [, baseUrl = ""] = await running.until(/Base URL +(\S+)[\s\S]*Ctrl-C/);
  return { ...running, baseUrl };
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "pod-partner-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

async function fileOf(content: string): Promise<string> {
  const path = join(await folder(), "world.json");
  await writeFile(path, content);
  return path;
}

async function referencesOf(baseUrl: string): Promise<readonly string[]> {
  const response = await fetch(`${baseUrl}/orders`, { headers });
  const { orders } = (await response.json()) as { orders: readonly { reference: string }[] };
  return orders.map(({ reference }) => reference);
}

describe("--world", () => {
  it("starts with the orders of a saved world", async () => {
    const emulator = createEmulator({ seed: { orders: 2 } });
    const references = emulator.world().organizations[0]?.orders.map(({ reference }) => reference) ?? [];
    expect(references).toHaveLength(2);
    const { baseUrl } = await startEmulator(["--world", await fileOf(JSON.stringify(emulator.world()))]);
    expect((await referencesOf(baseUrl)).toSorted()).toEqual(references.toSorted());
  });

  it("takes the response of the control that saves the world", async () => {
    const first = await startEmulator(["--orders", "2"]);
    const second = await startEmulator(["--world", await fileOf(await saved(first.baseUrl))]);
    expect(await referencesOf(second.baseUrl)).toEqual(await referencesOf(first.baseUrl));
  });

  it("sends no callback to a public host of a saved world without --allow-remote", async () => {
    const emulator = createEmulator({ callbackUrl: "https://shop.com/", allowRemote: true });
    const world = await fileOf(JSON.stringify(emulator.world()));
    const { code, errors } = await runMain(["emulator", "--port", "0", "--world", world]);
    expect(code).toBe(1);
    expect(errors).toMatch(
      /world\.json cannot be loaded\. .+ shop\.com looks like a real service: .+, add --allow-remote\.\n$/,
    );
    const { baseUrl } = await startEmulator(["--world", world, "--allow-remote"]);
    expect(baseUrl).toMatch(/^http/);
  });

  it.each([
    ["not JSON", "{", /world\.json is not JSON: .+\. Save the world again\.$/],
    ["binary", "\u001b[2J\r\n{", /is not JSON: \P{Cc}+\. Save the world again\.$/u],
    [
      "not a world",
      "{}",
      /world\.json is not a saved world: world\.version: .+ \(and \d+ more\)\. Save the world again\.$/,
    ],
    ["a list", "[]", /world\.json is not a saved world: world: .+\. Save the world again\.$/],
  ])("refuses a file that is %s with one line, and ends", async (_, content, message) => {
    const { code, output, errors } = await runMain(["emulator", "--port", "0", "--world", await fileOf(content)]);
    expect({ code, output }).toEqual({ code: 1, output: "" });
    expect(errors).toMatch(/^pod-partner: The file .+\n$/);
    expect(errors.trim()).toMatch(message);
  });

  it("says that a file does not exist, or is a folder", async () => {
    const path = await folder();
    const missing = await runMain(["emulator", "--world", join(path, "none.json")]);
    expect(missing.code).toBe(1);
    expect(missing.errors).toMatch(/^pod-partner: The file .+none\.json does not exist\. Choose a world .+\n$/);
    expect((await runMain(["emulator", "--world", path])).errors).toMatch(/ is a folder\. .+\n$/);
  });
});

describe("--save", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("keeps the world for --world after %s", async (signal) => {
    const path = join(await folder(), "world.json");
    const first = await startEmulator(["--orders", "2", "--save", path]);
    const references = await referencesOf(first.baseUrl);
    first.kill(signal);
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(first.output()).toContain(`Ended. The world is in ${path}: go on with --world ${path}.`);
    const second = createEmulator();
    second.load(JSON.parse(await readFile(path, "utf8")));
    expect(
      second
        .world()
        .organizations[0]?.orders.map(({ reference }) => reference)
        .toSorted(),
    ).toEqual(references.toSorted());
  });

  it("keeps the world when a signal comes twice", async () => {
    const path = join(await folder(), "world.json");
    const running = await startEmulator(["--orders", "200", "--save", path]);
    running.kill("SIGINT");
    running.kill("SIGINT");
    await running.ended;
    const world = JSON.parse(await readFile(path, "utf8"));
    expect(world.organizations[0].orders).toHaveLength(200);
    expect(await readdir(dirname(path))).toEqual(["world.json"]);
  });

  it("replaces the file that a link names, and keeps the link", async () => {
    const path = await folder();
    await writeFile(join(path, "old.json"), "old");
    await symlink("old.json", join(path, "link.json"));
    const running = await startEmulator(["--save", join(path, "link.json")]);
    expect(await readFile(join(path, "old.json"), "utf8")).toBe("old");
    running.kill("SIGTERM");
    await running.ended;
    expect(JSON.parse(await readFile(join(path, "old.json"), "utf8"))).toHaveProperty("organizations");
    expect((await readdir(path)).toSorted()).toEqual(["link.json", "old.json"]);
  });

  it.each([
    ["a folder that does not exist", "none/world.json", "its folder does not exist"],
    ["a folder", ".", "it is a folder"],
    ["a folder that is a file", "file/world.json", "its folder is a file"],
  ])("is refused at the start for %s", async (_, name, reason) => {
    const path = await folder();
    await writeFile(join(path, "file"), "");
    const { code, output, errors } = await runMain(["emulator", "--port", "0", "--save", join(path, name)]);
    expect({ code, output }).toEqual({ code: 2, output: "" });
    expect(errors).toMatch(/^pod-partner: The world cannot be saved in .+: .+\. \(pod-partner emulator --help\)\n$/);
    expect(errors).toContain(`: ${reason}.`);
  });

  it("is refused at the start for a folder in which nothing can be written", async () => {
    const { code, errors } = await runMain(["emulator", "--port", "0", "--save", "/proc/self/world.json"]);
    expect(code).toBe(2);
    expect(errors).toContain("pod-partner: The world cannot be saved in /proc/self/world.json: ");
  });
});

it("--callback-url is the callback URL of every store", async () => {
  const { baseUrl } = await startEmulator(["--callback-url", "http://127.0.0.1:9/shop?token=secret"]);
  const { result } = JSON.parse(await saved(baseUrl));
  const urls = result.organizations[0].stores.map(({ callbackUrl }: { callbackUrl: string }) => callbackUrl);
  expect(urls).toEqual(Array(3).fill("http://127.0.0.1:9/shop?token=secret"));
});

describe("--speed", () => {
  it.each(["0", "0.5"])("%s is the speed of the emulated time", async (speed) => {
    const { baseUrl } = await startEmulator(["--speed", speed]);
    expect(JSON.parse(await saved(baseUrl))).toMatchObject({ result: { clock: { speed: Number(speed) } } });
  });
});
