import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type RunningEmulator, sampleImage, startEmulator } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { pack, root } from "../package/tarball.ts";
import { all, isMissing, places, placesTable } from "./places.ts";
import type { Day } from "./program.ts";

const run = promisify(execFile);

/** The result of the program, by the specification: 202 and 204 aside, it is the same in each place. */
const expected = {
  found: true,
  listed: 121,
  uploads: 4,
  uploadedOnce: true,
  render: "completed",
  complete: true,
  file: "saved and uploaded",
  callback: 204,
  error: "NotFoundError 404",
};

it("docs/runtimes.md has the table of the places", async () => {
  expect(await readFile(join(root, "docs/runtimes.md"), "utf8")).toContain(placesTable());
});

describe("the packed package", () => {
  let emulator: RunningEmulator;
  let folder: string;
  let tarball: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pod-partner-places-"));
    tarball = (await pack()).path;
    emulator = await startEmulator({ seed: { orders: 120 }, renderDuration: 10 });
  });
  afterAll(async () => {
    await emulator?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [index, place] of places.entries()) {
    const skipped = !all && (place.fast !== true || (isMissing(place) && process.env.CI === undefined));
    it.skipIf(skipped)(
      `works in ${place.name}`,
      async () => {
        await emulator.reset();
        const { baseUrl, secretKey, demo } = emulator;
        const project = { folder: join(folder, String(index)), tarball, input: "" };
        const home = join(project.folder, "node_modules/pod-partner");
        await mkdir(home, { recursive: true });
        await cp(new URL("program.ts", import.meta.url), join(project.folder, "program.ts"));
        const manifest = { name: "shop", private: true, type: "module", dependencies: { "pod-partner": "*" } };
        await writeFile(join(project.folder, "package.json"), JSON.stringify(manifest));
        await run("tar", ["-xzf", tarball, "-C", home, "--strip-components", "1"]);
        const day: Day = {
          baseUrl,
          secretKey,
          order: orderOf(emulator, `shop-${index}`),
          composition: {
            sceneReference: demo.scenes.studio,
            productReference: demo.products.slimCase,
            perspectiveReference: demo.perspectives.front,
          },
          design: Buffer.from(sampleImage("a design")).toString("base64"),
          folder: place.name.startsWith("Cloudflare") ? "/tmp" : project.folder,
        };
        const result = await place.run({ ...project, input: JSON.stringify(day) });
        if (result === undefined) return;
        expect(result).toEqual({ ...expected, ...(place.file !== undefined && { file: place.file }) });
      },
      300_000,
    );
  }
});
