import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { bundleMinimal } from "../bench/weight/minimal-bundle.ts";
import { startStubService } from "../support/stub-service.ts";
import { installedProject, root, runFile } from "./tarball.ts";

interface Loaded {
  readonly files: readonly string[];
  readonly builtIn: readonly string[];
}

async function loaded(transport = "fetch"): Promise<Readonly<Record<"imported" | "called", Loaded>>> {
  await using service = await startStubService();
  service.respondAlways(() => ({ body: { message: "valid" } }));
  const output = await runFile(await installedProject(), "loaded.mjs", {
    POD_PARTNER_BASE_URL: service.baseUrl,
    POD_PARTNER_SECRET_KEY: "test-key-5up3r53cr3t-4d5f6",
    TRANSPORT: transport,
  });
  return JSON.parse(output);
}

const isOwn = (url: string) => url.includes(`/node_modules/${manifest.name}/dist/`);

describe("loading the package", () => {
  it("loads no file of a dependency, neither at the import nor for a call", async () => {
    const { imported, called } = await loaded();
    expect(imported.files.length).toBeGreaterThan(0);
    expect([...imported.files, ...called.files].filter((url) => !isOwn(url))).toEqual([]);
  });

  it("loads ky with the first client, and fetch with the first call, not at the import", async () => {
    const { imported, called } = await loaded();
    expect(called.files.map((url) => basename(url))).toEqual([expect.stringMatching(/^distribution-/)]);
    expect(called.builtIn).toContain("internal/deps/undici/undici");
    expect(imported.builtIn.filter((name) => !/^internal\/(modules|process|source_map)\//.test(name))).toEqual([]);
  });

  it("loads neither fetch, nor TLS, nor a decoder for a plain call over nodeTransport", async () => {
    const { called } = await loaded("node");
    expect(called.files.filter(isOwn).map((url) => basename(url))).toEqual(["node.js"]);
    expect(called.builtIn).toContain("_http_client");
    expect(called.builtIn.filter((name) => /undici|tls|zlib/.test(name))).toEqual([]);
  });

  it("takes less than 93 kB of a bundle, minified and compressed, and 9 kB for ky", async () => {
    const { entry, calls } = bundleMinimal(await installedProject());
    expect(entry).toBeLessThan(93_000);
    expect(calls - entry).toBeLessThan(9_100);
  });

  // A use of `z.core` as a value makes esbuild keep all of zod, and a third of the import's time. A use of `z.iso` moves the JSON Schema.
  it("has none of zod's messages in other languages in the build, and its JSON Schema only in the emulator", async () => {
    const files = (await readdir(join(root, "dist"))).filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(files.map((name) => readFile(join(root, "dist", name), "utf8")));
    const having = (text: string) => files.filter((_, index) => texts[index]?.includes(text));
    expect(having("zod/v4/locales")).toEqual([]);
    expect(having("zod/v4/core/to-json-schema")).toEqual(["testing.js"]);
  });
});
