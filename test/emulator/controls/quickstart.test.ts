import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startEmulator } from "pod-partner/testing";
import { expect, it } from "vitest";

const shell = async (command: string) => (await promisify(execFile)("sh", ["-c", command])).stdout;

it("`GET /_emulator/quickstart` is plain text whose commands work as they are", async () => {
  await using emulator = await startEmulator({
    keys: [{ secretKey: "key-that-may-only-read", permissions: ["orders.get"] }],
  });
  const url = emulator.baseUrl.replace(/v2$/, "_emulator/quickstart");
  const response = await fetch(url);
  expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  const text = await response.text();
  expect(text).toContain(`Base URL: ${emulator.baseUrl}\n`);
  expect(text).toContain("key-that-may-only-read  (Demo Prints; only orders.get)");
  const commands = text.match(/^ {2}curl (?:.*\\\n)*.*$/gm) ?? [];
  const [created, list, advanced] = await Promise.all([
    shell(`${commands[0]} -s`),
    shell(`${commands[1]} -s`),
    shell(`${commands[2]} -s`),
  ]);
  expect(JSON.parse(created)).toEqual({ order: { reference: expect.stringMatching(/^Order_/) } });
  expect(JSON.parse(list)).toHaveProperty("orders");
  expect(JSON.parse(advanced)).toEqual({ result: null });
  expect(JSON.parse(await shell(`${commands[3]} -s`))).toEqual({ result: { id: 1 } });
  expect(JSON.parse(await shell(`${commands[4]} -s`))).toEqual({ result: null });
  expect(emulator.world().faults).toHaveLength(1);
});
