import { appendFileSync } from "node:fs";
import { appendFile, mkdtemp, rm, truncate, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { useService } from "../support/partner.ts";
import { png } from "../support/pictures.ts";
import { transports } from "../support/transports.ts";
import { partnerOf, someImage } from "../support/uploads.ts";

const changes = {
  "has grown": (path: string) => appendFile(path, "more"),
  "was cut off": (path: string) => truncate(path, 100),
  "was removed": unlink,
};

describe.each(transports)("over $name, the upload of a file", ({ over }) => {
  const context = useService();
  let folder = "";
  let path = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "changed-"));
    path = join(folder, "design.png");
    await writeFile(path, Buffer.concat([png, Buffer.alloc(1_000_000)]));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const partner = () => partnerOf(context.service, { ...over, retry: { retries: 3, baseDelay: 0, maxDelay: 0 } });
  const expected = {
    name: "RequestValidationError",
    endpoint: "POST /images",
    message: expect.stringMatching(/^No complete request was sent.*"[^"]*design\.png" has changed/s),
  };

  describe.each(Object.entries(changes))("that %s after its first attempt", (_, change) => {
    it.each(["upload", "uploadOnce"] as const)("ends at once with an error that says so: %s", async (method) => {
      context.service.respond(async () => {
        await change(path);
        return { status: 503 };
      });
      const error = await rejection(partner().images[method](path));
      expect(error).toMatchObject(expected);
      const { timeline } = error as { timeline: { step: string }[] };
      expect(timeline.filter(({ step }) => step === "attempt").length).toBeLessThanOrEqual(2);
    });
  });

  it.each(["upload", "uploadOnce"] as const)(
    "ends at once with an error that says so, if the file changes while it is sent: %s",
    async (method) => {
      let reports = 0;
      context.service.respond(someImage);
      const onProgress = () => {
        reports += 1;
        if (reports === 2) appendFileSync(path, "more");
      };
      const error = await rejection(partner().images[method](path, { onProgress }));
      expect(error).toMatchObject(expected);
    },
  );
});
