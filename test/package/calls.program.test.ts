import { describe, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { startStubService } from "../support/stub-service.ts";
import { installedProject, runFile } from "./tarball.ts";

const found = ref("Order", "1");
const missing = ref("Order", "2");
const order = { reference: found, status: {}, orderlines: [], onHold: null, legacyOrderCode: "shop-1" };
const secretKey = "test-key-5up3r53cr3t-4d5f6";

describe("the installed package", () => {
  it.each(["call.mjs", "call.cjs"])("makes calls from %s", async (file) => {
    await using service = await startStubService();
    service.respondAlways(({ path, headers }) =>
      path === `/v2/orders/${found}` && headers["x-service-secret-key"] === secretKey
        ? { body: { order } }
        : { status: 404, body: { code: "not_found", message: "There is no such order." } },
    );
    const output = await runFile(await installedProject(), file, {
      POD_PARTNER_BASE_URL: service.baseUrl,
      POD_PARTNER_SECRET_KEY: secretKey,
      FOUND: found,
      MISSING: missing,
    });
    expect(JSON.parse(output)).toEqual({ reference: found, notFound: true });
  });

  it("runs its emulator in a CommonJS program that has no test tool installed", async () => {
    const project = await installedProject();
    expect(JSON.parse(await runFile(project, "emulator.cjs", {}))).toEqual({ message: "string", refused: true });
  });

  it("works together in a program that loads it by import and by require", async () => {
    const works = { followed: true, uploadedOnce: true, checked: true, notFound: true, instanceof: false };
    expect(JSON.parse(await runFile(await installedProject(), "copies.mjs", {}))).toEqual([works, works]);
  });
});
