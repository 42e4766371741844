import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sampleImage, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { harsh } from "../support/harsh.ts";
import { ref } from "../support/references.ts";
import { startStubService } from "../support/stub-service.ts";
import { createProject, isMissing, runtimes } from "./runtimes.ts";

const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** More than one chunk of any stream. */
const picture = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, at) => png[at] ?? (at * 7) % 256));

/** Of known length, or chunked for a stream. */
const announced = ({ "content-length": length, "transfer-encoding": encoding }: NodeJS.Dict<string | string[]>) =>
  length ?? encoding;

describe.each(runtimes)("on $name", (runtime) => {
  it.skipIf(isMissing(runtime))("the calls of a day have the same results as on Node", async () => {
    await using emulator = await startEmulator({ ...harsh, seed: { orders: 120 }, renderDuration: 10 });
    await using project = await createProject();
    const { baseUrl, secretKey, demo, faults } = emulator;
    faults.add({ on: "orders.create", nth: 2, fault: "drop" });
    faults.add({ on: "warehouse.items.list", fault: "stall" });
    faults.add({ on: "organization.accounts.list", fault: "stall" });
    faults.add({ on: "rendertokens.get", fault: "truncate" });
    const upload = join(project.folder, "upload.png");
    const target = join(project.folder, "mockup.png");
    await writeFile(upload, sampleImage("a design"));
    const input = { baseUrl, secretKey, demo, order: orderOf(emulator, "shop-1"), picture: upload, target };

    const day = await project.run<{ readonly bytes: number }>(runtime, "calls.mjs", input);
    const saved = await readFile(target);
    expect(day).toEqual({
      found: true,
      recovered: [false, true],
      listed: 122,
      render: "completed",
      bytes: saved.length,
      size: saved.length,
      attempts: ["attempt 200"],
      notFound: "NotFoundError",
      ownLine: true,
      keyShown: false,
      watched: "POST /orders",
      timeout: "RequestTimeoutError",
      deadline: "DeadlineError",
      abort: "RangeError",
      cut: "ConnectionError",
    });
    expect([...saved.subarray(0, 8)]).toEqual(png);
  });

  it.skipIf(isMissing(runtime))(
    "an upload from any source arrives completely, and fails when its source breaks",
    async () => {
      await using service = await startStubService();
      await using project = await createProject();
      service.respondAlways({ body: { image: { reference: ref("Image", "1") } } });
      const path = join(project.folder, "picture.png");
      await writeFile(path, picture);
      const input = { baseUrl: service.baseUrl, secretKey: "test-key-5up3r53cr3t-4d5f6", picture: path };

      const results = await project.run<Record<string, string>>(runtime, "uploads.mjs", input);
      const { "broken stream": broken, ...whole } = results;
      expect(new Set(Object.values(whole))).toEqual(new Set(["value"]));
      expect(broken).toBe("ConnectionError");
      expect(service.requests.map(({ body }) => body.equals(picture))).toEqual(Object.keys(whole).map(() => true));
      expect(service.requests.map(({ headers }) => announced(headers))).toEqual([
        ...["path", "buffer", "bytes", "blob", "file"].map(() => "300000"),
        ...["web stream", "Node stream", "generator", "file handle"].map(() => "chunked"),
      ]);
    },
  );
});
