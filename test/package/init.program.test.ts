import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { start } from "../cli/process.ts";
import { installedProject } from "./tarball.ts";

/** Runs a command of the package that is installed in a project, in one of its folders. */
async function pod(project: string, command: string, folder = ".") {
  const bin = join(project, "node_modules/.bin/pod-partner");
  const running = start("sh", ["-c", `cd '${join(project, folder)}' && '${bin}' ${command}`]);
  const { code } = await running.ended;
  return { code, output: running.output(), errors: running.errors() };
}

describe("npx pod-partner init of the packed tarball", () => {
  it("lists the examples, and no part of one", async () => {
    const { code, output } = await pod(await installedProject(), "init");
    expect(code).toBe(0);
    const names = [...output.matchAll(/^ {2}(\S+)$/gm)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(["place-an-order", "cookbook/tracking-mails", "postgres", "fleet"]));
    for (const part of ["cookbook/claims-desk-page", "postgres/database", "gallery"]) expect(names).not.toContain(part);
    expect(output).toMatch(/ {6}Places an order for a shop's webhook, once/);
  });

  it("copies one, which runs as it says, and does not overwrite it", async () => {
    const project = await installedProject();
    const { code, output } = await pod(project, "init place-an-order");
    expect(code).toBe(0);
    const folder = join(project, "place-an-order");
    const made = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    expect(made).toMatchObject({ name: "place-an-order", private: true, type: "module" });
    const { version } = JSON.parse(await readFile(join(project, "node_modules/pod-partner/package.json"), "utf8"));
    expect(made.dependencies).toEqual({ "pod-partner": version });
    // The project has the package: no `npm install`.
    const [, step = ""] = /^ {2}npx pod-partner (dev -- node place-an-order\.ts)$/m.exec(output) ?? [];
    expect(await pod(project, step, "place-an-order")).toMatchObject({ code: 0 });
    const again = await pod(project, "init place-an-order");
    expect(again).toMatchObject({ code: 1, output: "" });
    expect(again.errors).toMatch(/^pod-partner: The folder place-an-order exists: .+\n$/);
  });

  it.each([
    ["file:../pod-partner-1.0.0.tgz", "file:../../../pod-partner-1.0.0.tgz"],
    ["./packages/pod", "../../packages/pod"],
    ["https://example.com/pod-partner.tgz", "https://example.com/pod-partner.tgz"],
    ["^1.0.0", undefined],
  ])("names the package as the project above has it: %s", async (above, expected) => {
    const project = await installedProject();
    const { version } = JSON.parse(await readFile(join(project, "node_modules/pod-partner/package.json"), "utf8"));
    await writeFile(join(project, "package.json"), JSON.stringify({ devDependencies: { "pod-partner": above } }));
    await mkdir(join(project, "tools"));
    await writeFile(join(project, "tools/package.json"), JSON.stringify({ dependencies: { hono: "4" } }));
    expect(await pod(project, "init place-an-order", "tools")).toMatchObject({ code: 0 });
    const made = JSON.parse(await readFile(join(project, "tools/place-an-order/package.json"), "utf8"));
    expect(made.dependencies).toEqual({ "pod-partner": expected ?? version });
  });

  it("copies what an example imports, names its packages, variables and page, and no path of the repository", async () => {
    const project = await installedProject();
    const { output } = await pod(project, "init claims-desk");
    expect((await readdir(join(project, "claims-desk"))).sort()).toEqual([
      "claims-desk-page.ts",
      "claims-desk.ts",
      "package.json",
    ]);
    expect(output).toContain("node_modules/pod-partner/docs/cookbook.md");
    const mails = await pod(project, "init cookbook/tracking-mails");
    expect(mails.output).toContain("Set CALLBACK_TOKEN, MAIL_FROM, SMTP_URL first.");
    const { dependencies } = JSON.parse(await readFile(join(project, "tracking-mails/package.json"), "utf8"));
    expect(Object.keys(dependencies)).toEqual(["nodemailer", "pod-partner"]);
    await pod(project, "init postgres");
    const files = await readdir(join(project, "postgres"));
    expect(files).toEqual(expect.arrayContaining(["database.ts", "migrate.ts", "package.json", "worker.ts"]));
    for (const file of files) {
      expect(await readFile(join(project, "postgres", file), "utf8")).not.toContain("examples/");
    }
  });

  it("copies each file that an example names", async () => {
    const project = await installedProject();
    const { output: list } = await pod(project, "init");
    const names = [...list.matchAll(/^ {2}(\S+)$/gm)].map(([, name = ""]) => name);
    const missing: string[] = [];
    let named = 0;
    for (const name of names) {
      const place = `copies/${name}`;
      await mkdir(join(project, place), { recursive: true });
      await pod(project, `init ${name}`, place);
      const folder = join(project, place, basename(name).replace(/\.\w+$/, ""));
      for (const file of await readdir(folder, { recursive: true })) {
        if (!/\.(ts|mjs|py)$/.test(file)) continue;
        const code = await readFile(join(folder, file), "utf8");
        const paths = code.matchAll(
          /(?:from |import\(|new URL\()"(\.[^"]+|[^":]+(?=", import))"|import\.meta\.dirname, "([^"]+)"/g,
        );
        for (const [, one, other = one ?? ""] of paths) {
          named += 1;
          const path = join(folder, dirname(file), other);
          // The program for NestJS names its parts without `.ts`.
          const exists = [path, `${path}.ts`].some((each) => existsSync(each));
          if (!path.startsWith(folder) || !exists) missing.push(`${name}: ${file} names ${other}`);
        }
      }
    }
    expect(missing).toEqual([]);
    expect(named).toBeGreaterThan(20);
    expect(await pod(project, "init quickstart")).toMatchObject({ code: 0 });
    const quickstart = start("sh", [
      "-c",
      `cd '${join(project, "quickstart")}' && exec '${process.execPath}' quickstart.ts`,
    ]);
    expect({ ...(await quickstart.ended), errors: quickstart.errors() }).toMatchObject({ code: 0 });
  });

  it("copies the example that another one runs, and names only the variables that are not set for it", async () => {
    const project = await installedProject();
    const { output: list } = await pod(project, "init");
    for (const [, name = ""] of list.matchAll(/^ {2}(verify\/\S+)$/gm)) {
      const { output } = await pod(project, `init ${name}`);
      expect(output).not.toMatch(/SHOPIFY_SECRET|STORE_REFERENCE/);
      const folder = join(project, basename(name).replace(/\.\w+$/, ""));
      for (const file of await readdir(folder, { recursive: true })) {
        if (!file.endsWith(".ts")) continue;
        for (const [, path = ""] of (await readFile(join(folder, file), "utf8")).matchAll(/"(\.\.?\/[^"]+\.ts)"/g)) {
          const imported = join(folder, dirname(file), path);
          expect([name, path, imported.startsWith(folder), existsSync(imported)]).toEqual([name, path, true, true]);
        }
      }
    }
  });

  it("names the page that explains an example before the list of all", async () => {
    const project = await installedProject();
    for (const [name, page] of [
      ["postgres-worker", "postgres"],
      ["verify/worker", "verify"],
      ["mockup", "renders"],
    ]) {
      const { output } = await pod(project, `init ${name}`);
      expect([name, /docs\/([\w-]+)\.md/.exec(output)?.[1]]).toEqual([name, page]);
    }
  });

  it("runs an example with an emulator of its own without `dev`", async () => {
    const project = await installedProject();
    const { output } = await pod(project, "init rate-limits");
    expect(output).toMatch(/^ {2}node rate-limits\.ts$/m);
    expect(output).not.toContain("pod-partner dev");
    expect(output.replace(/\s+/g, " ")).toContain("for the service, remove the emulator");
  });

  it("names the example that was meant", async () => {
    const { code, errors } = await pod(await installedProject(), "init place-an-ordr");
    expect(code).toBe(2);
    expect(errors).toContain('"place-an-ordr" is not an example. Did you mean place-an-order?');
  });
});
