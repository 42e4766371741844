import { writeFileSync } from "node:fs";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { runCli } from "./process.ts";
import { useFolder, verify } from "./verify.ts";

describe("--env-file", () => {
  const { at, programOf } = useFolder();
  const fileWith = (text: string): string => {
    const path = at(`env-${text.length}`);
    writeFileSync(path, text);
    return path;
  };
  /** Reads once, and fails without the variable of the file. */
  const program = `
    const { POD_PARTNER_BASE_URL: url, POD_PARTNER_SECRET_KEY: key, SHOP: shop } = process.env;
    const { ok } = await fetch(url + "/stores", { headers: { "X-Service-Secret-Key": key } });
    console.log(ok, shop);
    if (shop !== "a shop") process.exit(1);
  `;

  it("gives the doctor base URL and key, before the environment", async () => {
    await using emulator = await startEmulator({ secretKey: "key-of-the-file" });
    const path = fileWith(`POD_PARTNER_BASE_URL=${emulator.baseUrl}\nPOD_PARTNER_SECRET_KEY="key-of-the-file"\n`);
    const { code, output } = await runCli(["doctor", "--env-file", path], {
      POD_PARTNER_BASE_URL: "http://127.0.0.1:1/v2",
      POD_PARTNER_SECRET_KEY: "key-of-the-environment",
    });
    expect(code).toBe(0);
    expect(output).toContain("Everything is fine.");
    expect(output).not.toContain("key-of-the-file");
  });

  it("gives variables to the program of dev and verify, which have the base URL and key of the emulator", async () => {
    const path = fileWith(
      "SHOP='a shop'\nPOD_PARTNER_BASE_URL=http://127.0.0.1:1/v2\nPOD_PARTNER_SECRET_KEY=another-key-1\n",
    );
    const command = programOf("env.mjs", program);
    expect(await runCli(["dev", "--env-file", path, "--", ...command])).toMatchObject({
      code: 0,
      output: "true a shop\n",
    });
    expect((await verify("order-502", command, ["--env-file", path])).code).toBe(0);
    expect((await runCli(["dev", "--", ...command])).code).toBe(1);
    expect((await verify("order-502", command)).code).toBe(1);
  });

  it.each([
    ["a byte order mark", "\uFEFFSHOP='a shop'\n", 0, /^true a shop\n/],
    ["line ends of Windows", 'SHOP="a shop"\r\n', 0, /^true a shop\n/],
    ["a quote that is not closed", 'SHOP="a shop\nOTHER=1\n', 2, /value of SHOP has a quote that is not closed\.\n$/],
  ])("reads a file with %s", async (name, text, code, printed) => {
    const path = at(`env ${name}`);
    writeFileSync(path, text);
    const ended = await runCli(["dev", "--env-file", path, "--", ...programOf("env.mjs", program)]);
    expect([ended.code, ended.output + ended.errors]).toEqual([code, expect.stringMatching(printed)]);
  });

  it.each(["doctor", "verify", "dev"])("of %s says in one line that it cannot be read", async (name) => {
    const { code, output, errors } = await runCli([
      name,
      "--env-file",
      at("missing"),
      ...(name === "doctor" ? [] : ["--", "true"]),
    ]);
    // Some versions of Node read the option themselves, and end with a line and a code of their own.
    expect([2, 9]).toContain(code);
    expect(output).toBe("");
    expect(errors).toMatch(/^[^\n]*missing[^\n]*\n$/);
  });
});

it("--repeated-identifier says what the emulator does with a second order", async () => {
  const place = `
    const { POD_PARTNER_BASE_URL: url, POD_PARTNER_SECRET_KEY: key } = process.env;
    const headers = { "X-Service-Secret-Key": key, "Content-Type": "application/json" };
    const read = async (path) => (await fetch(url + path, { headers })).json();
    const { reference: storeReference } = (await read("/stores")).stores.find(({ integration }) => integration === "api");
    const { reference: productReference } = (await read("/products")).products.find(({ name }) => /screen|glass/i.test(name));
    const order = { storeReference, shippingKind: "combined", customIdentifier: "shop-1", orderlines: [{ productReference, quantity: 1 }] };
    for (const _ of [1, 2]) {
      const response = await fetch(url + "/orders", { method: "POST", headers, body: JSON.stringify({ order }) });
      console.log(response.status);
    }
  `;
  const outputOf = async (...flags: readonly string[]) =>
    (await runCli(["dev", ...flags, "--", process.execPath, "--input-type=module", "--eval", place])).output;
  expect(await outputOf()).toBe("200\n200\n");
  expect(await outputOf("--repeated-identifier", "refuse")).toBe("200\n409\n");
});
