import { execFile } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmulator } from "pod-partner/testing";
import { expect, it } from "vitest";
import { installedProject } from "../package/tarball.ts";
import { root } from "./process.ts";

it("docs/renders.md: a batch that runs twice spends its tokens in the first run only", async () => {
  const folder = await installedProject();
  await copyFile(join(root, "test/examples/second-run.ts"), join(folder, "mockups.mts"));
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
