import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { PodPartner } from "pod-partner";
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
  const references: string[] = [JSON.parse(created).order.reference];
  /** Runs a command with the references of the responses before it. */
  const run = async (command = "") => {
    const filled = references.reduce((text, one) => text.replaceAll(`${one.split("_")[0]}_…`, one), command);
    const response = await shell(`${filled} -s`);
    references.push(/(?:Shipment|Claim)_\w{26}/.exec(response)?.[0] ?? "none");
    return JSON.parse(response);
  };
  emulator.setCallbackUrl(emulator.demo.stores.api, null);
  expect(await run(commands[5])).toEqual({ result: expect.stringMatching(/^Shipment_/) });
  expect(await run(commands[6])).toEqual({ claim: { reference: expect.stringMatching(/^Claim_/) } });
  expect(await run(commands[7])).toEqual({ result: null });
  expect(await run(commands[8])).toMatchObject({ shipment: { reference: references[1] } });
  expect(await run(commands[9])).toEqual({ orderReference: references[0] });
});

it("the quickstart's lines of code place the same order as its first command, once", async () => {
  await using emulator = await startEmulator();
  const text = await (await fetch(emulator.baseUrl.replace(/v2$/, "_emulator/quickstart"))).text();
  await shell(`${/^ {2}curl .*\\\n.*$/m.exec(text)?.[0]} -s`);
  const [client = "", place = ""] = text.match(/^ {2}(?:const partner|await partner).*$/gm) ?? [];
  const program = new Function("PodPartner", `return (async () => { ${client} return ${place} })()`);
  expect(await program(PodPartner)).toMatchObject({ existed: true });
  expect(emulator.world().organizations[0]?.orders).toHaveLength(1);
});
