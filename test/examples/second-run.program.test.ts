import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmulator } from "pod-partner/testing";
import { expect, it } from "vitest";
import { installedProject } from "../package/tarball.ts";
import { blockPrograms } from "./blocks.ts";

it("docs/renders.md: the program for two runs spends its tokens in the first one only", async () => {
  const { code } =
    blockPrograms.find((block) => block.code.includes("tokensSpent, requests })")) ?? expect.fail("gone");
  const folder = await installedProject();
  await writeFile(join(folder, "mockups.mts"), code);
  await using emulator = await startEmulator({ renderDuration: 200 });
  const env = {
    ...process.env,
    POD_PARTNER_BASE_URL: emulator.baseUrl,
    POD_PARTNER_SECRET_KEY: emulator.secretKey,
    NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
  };
  const run = () => promisify(execFile)(process.execPath, ["mockups.mts"], { cwd: folder, env });
  expect(await run()).toMatchObject({
    stdout: expect.stringMatching(/^20 pictures, 20 tokens, \d+ requests\n$/),
    stderr: "",
  });
  expect(await run()).toEqual({ stdout: "20 pictures, 0 tokens, 3 requests\n", stderr: "" });
});
