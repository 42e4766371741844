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
const doorFiles = ["index", "node", "redis", "testing"].flatMap((door) =>
  ["cjs", "d.cts", "d.ts", "js"].map((suffix) => `dist/${door}.${suffix}`),
);
const isChunk = (path: string) => /^dist\/[\w.-]+-[\w-]{8}\.(js|d\.ts|d\.cts)$/.test(path);

describe("the tarball", () => {
  it("contains only the build, the manifest, the documents and the examples", async () => {
    const { files, size } = await pack();
    console.log(`${files.join("\n")}\n${size} bytes`);
    const documents = /^(docs\/.+\.(md|svg)|examples\/[\w-]+\.(ts|png))$/;
    expect(files.filter((path) => !isChunk(path) && !documents.test(path))).toEqual(
      ["CHANGELOG.md", "LICENSE", "README.md", "package.json", ...doorFiles].sort(),
    );
    expect(size).toBeLessThan(280_000);
  });

  it("contains every file that its pages link to", async () => {
    const { files } = await pack();
    const pages = files.filter((path) => path.endsWith(".md"));
    const dead = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(root, page), "utf8");
        return [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
          .map(([, link = ""]) => posix.join(posix.dirname(page), link))
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
    const check = promisify(execFile)(process.execPath, [attw, path, "--format", "json"]);
    const { stdout } = await check.catch((failed: { stdout: string }) => failed);
    const { analysis } = JSON.parse(stdout) as { analysis: { problems: { kind: string; resolutionKind?: string }[] } };
    expect(analysis.problems).toEqual([]);
  });
});
