import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { describeWithRedis, useRedis } from "../redis/use-redis.ts";
import { describeWithPostgres, table, usePostgres } from "../support/use-postgres.ts";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/storage.md", root), "utf8");

/** Runs the separate block that uses a storage, with the built package. `end` closes the block's client. */
async function expectToRun(storage: string, end: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const blocks = [...page.matchAll(/```ts separate\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const block = blocks.find((one) => one.includes(storage)) ?? expect.fail(`no block with ${storage}`);
  const code = `${block}\nawait partner.auth.validate();\n${end};\nconsole.log("valid");`;
  const hook = 'globalThis.fetch = async () => Response.json({ message: "valid" });\n';
  const service = {
    POD_PARTNER_BASE_URL: "https://partner.example/v2",
    POD_PARTNER_SECRET_KEY: "test-key-5up3r53cr3t",
  };
  const run = promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", hook + code], {
    cwd: root,
    env: { ...process.env, ...service, ...environment },
  });
  expect((await run).stdout).toBe("valid\n");
}

describeWithRedis("docs/storage.md", () => {
  const context = useRedis();

  it("has a block for Redis that runs with the built package", () =>
    expectToRun("redisStorage(redis)", "redis.destroy()", { REDIS_URL: context.server.url }));
});

describeWithPostgres("docs/storage.md", () => {
  const context = usePostgres();

  it("has a block for Postgres that runs with the built package, and creates the table", async () => {
    await context.pool.query(`DROP TABLE ${table}`);
    await expectToRun("postgresStorage(pool)", "await pool.end()", { DATABASE_URL: context.server.url });
    expect((await context.pool.query(`SELECT * FROM ${table}`)).rows).toEqual([]);
  });

  it("names the file of the table, whose statements are those of `migrate`", async () => {
    const [, path = ""] = /--file node_modules\/pod-partner\/(\S+)`/.exec(page) ?? [];
    await context.pool.query(`DROP TABLE ${table}`);
    await context.pool.query(readFileSync(new URL(path, root), "utf8"));
    expect((await context.pool.query(`SELECT key, value, until FROM ${table}`)).rows).toEqual([]);
  });
});
