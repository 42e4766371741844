import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { startStubService } from "../support/stub-service.ts";
import { createProject, isMissing, runtimes } from "./runtimes.ts";

/** A PNG's signature, then bytes that differ everywhere: several batches of a file. */
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const file = Buffer.from(Uint8Array.from({ length: 3_000_001 }, (_, at) => png[at] ?? (at * at + (at >> 9)) % 251));
const sum = createHash("sha256").update(file).digest("hex");

const reference = ref("Render", "1");
const headers = { "content-type": "image/png" };

it.each(runtimes)("$name uploads content once, and downloads a large file", async (runtime) => {
  if (isMissing(runtime)) return;
  await using service = await startStubService();
  await using project = await createProject();
  service.respondAlways(({ method }) =>
    method === "POST" ? { body: { image: { reference: ref("Image", "1") } } } : { headers, body: file },
  );
  const picture = join(project.folder, "picture.png");
  await writeFile(picture, file);
  const { baseUrl } = service;
  const target = join(project.folder, "mockup.png");
  const input = { baseUrl, secretKey: "test-key-5up3r53cr3t-4d5f6", picture, render: reference, target };

  const { downloads, ...uploads } = await project.run<Record<string, unknown>>(runtime, "remember.mjs", input);
  expect(downloads).toEqual([sum, sum]);
  const once = [true, false, false];
  // Node 22.12 has no `node:sqlite`.
  const hasSqlite = runtime.name !== "Node, the oldest";
  expect(uploads).toEqual({ none: once, memory: once, file: hasSqlite ? once : "ConfigurationError" });
  expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    ...Array.from({ length: hasSqlite ? 3 : 2 }, () => "POST /v2/images"),
    ...Array.from({ length: 2 }, () => `GET /v2/renders/${reference}/media`),
  ]);
});
