import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { describeWithRedis, useRedis } from "../redis/use-redis.ts";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/storage.md", root), "utf8");

describeWithRedis("docs/storage.md", () => {
  const context = useRedis();

  it("has a block for Redis that runs with the built package", async () => {
    const [, block = ""] = /```ts separate\n([\s\S]*?)```/.exec(page) ?? [];
    expect(block).toContain("redisStorage(redis)");
    const code = `${block}\nawait partner.auth.validate();\nredis.destroy();\nconsole.log("valid");`;
    const hook = 'globalThis.fetch = async () => Response.json({ message: "valid" });\n';
    const environment = {
      REDIS_URL: context.server.url,
      POD_PARTNER_BASE_URL: "https://partner.example/v2",
      POD_PARTNER_SECRET_KEY: "test-key-5up3r53cr3t",
    };
    const run = promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", hook + code], {
      cwd: root,
      env: { ...process.env, ...environment },
    });
    expect((await run).stdout).toBe("valid\n");
  });
});
