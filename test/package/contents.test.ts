import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { pack, root } from "./tarball.ts";

const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");

/** The files of `dist` whose names do not change from build to build; the rest are the chunks that the doors share. */
const doorFiles = ["index", "redis", "testing"].flatMap((door) =>
  ["cjs", "d.cts", "d.ts", "js"].map((suffix) => `dist/${door}.${suffix}`),
);
const isChunk = (path: string) => /^dist\/[\w-]+-[\w-]{8}\.(js|d\.ts|d\.cts)$/.test(path);

describe("the tarball", () => {
  it("holds the build, the manifest and the documents, and nothing else", async () => {
    const { files } = await pack();
    console.log(files.join("\n"));
    expect(files.filter((path) => !isChunk(path))).toEqual(
      ["CHANGELOG.md", "LICENSE", "README.md", "package.json", ...doorFiles].sort(),
    );
  });

  it("finds publint content", async () => {
    const { path } = await pack();
    const tarball = await readFile(path);
    const { messages } = await publint({
      pack: { tarball: tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength) },
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  it("finds attw content, under every resolution that knows `exports`", async () => {
    const { path } = await pack();
    const check = promisify(execFile)(process.execPath, [attw, path, "--profile", "node16", "--format", "json"]);
    const { stdout } = await check.catch((failed: { stdout: string }) => failed);
    const { analysis } = JSON.parse(stdout) as { analysis: { problems: { kind: string; resolutionKind?: string }[] } };
    expect(analysis.problems.filter(({ resolutionKind }) => resolutionKind !== "node10")).toEqual([]);
  });
});
