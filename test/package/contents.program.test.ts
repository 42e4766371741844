import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { pack, root } from "./tarball.ts";

const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");

/** The files of `dist` whose names do not change from build to build; the rest are the chunks that the entry points share. */
const doorFiles = ["index", "callbacks", "node", "opentelemetry", "postgres", "redis", "sqlite", "testing"].flatMap(
  (door) => ["cjs", "d.cts", "d.ts", "js"].map((suffix) => `dist/${door}.${suffix}`),
);
/** The emulator's page, and the packages whose code is in its script. The script is minified and does not name them. */
const pageFiles = ["app.css", "app.js", "icon.svg"].map((name) => `dist/page/${name}`);
const pageLibraries = ["@preact/signals", "@preact/signals-core", "preact"];
const notices = "dist/THIRD-PARTY-NOTICES.txt";
const isChunk = (path: string) => /^dist\/[\w.-]+-[\w-]{8}\.(js|cjs|d\.ts|d\.cts)$/.test(path);

describe("the tarball", () => {
  it("contains only the build, the manifest, the documents and the examples", async () => {
    const { files, size, unpackedSize } = await pack();
    console.log(`${files.join("\n")}\n${size} bytes`);
    const documents =
      /^(docs\/[\w-]+\.(md|svg|png|json|yml)|examples\/((callbacks|cookbook|fleet|postgres|python|verify)\/)?[\w-]+\.(ts|mjs|png|py))$/;
    expect(files.filter((path) => !isChunk(path) && !documents.test(path))).toEqual(
      [
        "AGENTS.md",
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "package.json",
        "dist/cli.js",
        "dist/cyclonedx.json",
        "dist/openapi.json",
        "dist/postgres.sql",
        "src/schemas/gaps.json",
        notices,
        ...pageFiles,
        ...doorFiles,
      ].sort(),
    );
    expect(size).toBeLessThan(1_000_000);
    expect(unpackedSize).toBeLessThan(3_300_000);
  });

  it("names each package whose code is in the build, with its version and licence", async () => {
    const { files } = await pack();
    const scripts = files.filter((path) => /^dist\/.*\.c?js$/.test(path));
    const texts = await Promise.all(scripts.map((path) => readFile(join(root, path), "utf8")));
    // esbuild writes the path of each source file above its code.
    const sources = texts.flatMap((text) => [...text.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)]);
    const names = new Set([...sources.map(([, name = ""]) => name), ...pageLibraries]);
    const { inlinedDependencies } = manifest;
    expect(Object.keys(inlinedDependencies).sort()).toEqual([...names].sort());

    const { components } = JSON.parse(await readFile(join(root, "dist/cyclonedx.json"), "utf8"));
    expect(
      Object.fromEntries(components.map(({ name, version }: Record<string, string>) => [name, version])),
    ).toMatchObject(inlinedDependencies);
    const text = await readFile(join(root, notices), "utf8");
    for (const [name, version] of Object.entries(inlinedDependencies)) {
      expect(text).toMatch(new RegExp(`^${name} ${version} \\((MIT|BSD-2-Clause)\\)$`, "m"));
    }
    const licences = text.match(/Permission is hereby granted|Redistribution and use in source/g);
    expect(licences).toHaveLength(text.match(/^-{80}$/gm)?.length ?? 0);
  });

  it("contains every file that its pages link to, and every picture that they show", async () => {
    const { files } = await pack();
    const pages = files.filter((path) => path.endsWith(".md"));
    const dead = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(root, page), "utf8");
        return [...text.matchAll(/\[[^\]]*\]\((?!https?:|#)([^)#]+)|src(?:set)?="([^"]+)"/g)]
          .map(([, link, source = ""]) => link ?? source)
          .map((link) => posix.join(posix.dirname(page), link))
          .filter((target) => !files.some((path) => path === target || path.startsWith(`${target}/`)))
          .map((target) => `${page} → ${target}`);
      }),
    );
    expect(pages.length).toBeGreaterThan(10);
    expect(dead.flat()).toEqual([]);
  });

  it("passes publint", async () => {
    const { path } = await pack();
    const tarball = await readFile(path);
    const { messages } = await publint({
      pack: { tarball: tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength) },
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  it("passes attw, under every module resolution of TypeScript", async () => {
    const { path } = await pack();
    const check = promisify(execFile)(process.execPath, [
      attw,
      path,
      "--format",
      "json",
      "--exclude-entrypoints",
      "./openapi.json",
      "./postgres.sql",
    ]);
    const { stdout } = await check.catch((failed: { stdout: string }) => failed);
    const { analysis } = JSON.parse(stdout) as { analysis: { problems: { kind: string; resolutionKind?: string }[] } };
    expect(analysis.problems).toEqual([]);
  });
});
