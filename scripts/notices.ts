/**
 * A plugin of esbuild that writes whose code the build contains: the licences, which must go with each copy, to
 * `dist/THIRD-PARTY-NOTICES.txt`, and the packages, for audits, to `dist/cyclonedx.json`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "esbuild";
import manifest from "../package.json" with { type: "json" };

/** The folders of all packages that the builds of this process have code of. */
const folders = new Set<string>();

export const notices: Plugin = {
  name: "notices",
  setup(build) {
    build.initialOptions.metafile = true;
    build.onEnd(({ metafile }) => {
      const inputs = Object.values(metafile?.outputs ?? {}).flatMap((output) => Object.entries(output.inputs));
      for (const [file, { bytesInOutput }] of inputs) {
        const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
      }
      write();
    });
  },
};

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly text: string;
}

function packageIn(folder: string): Package {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.\w+)?$/i.test(entry));
  const text = readFileSync(file === undefined ? `scripts/licences/${name}.txt` : join(folder, file), "utf8");
  return { name, version, license, text: text.trim() };
}

function write(): void {
  const packages = [...folders].sort().map(packageIn);
  const opening = "This package contains code of the following packages.\n";
  const texts = packages.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`);
  mkdirSync("dist", { recursive: true });
  writeFileSync("dist/THIRD-PARTY-NOTICES.txt", [opening, ...texts].join(`\n${"-".repeat(80)}\n\n`));
  const components = packages.map(({ name, version, license }) => ({
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    licenses: [{ license: { id: license } }],
  }));
  const { name, version } = manifest;
  const subject = { type: "library", name, version, purl: `pkg:npm/${name}@${version}` };
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: subject },
    components,
  };
  writeFileSync("dist/cyclonedx.json", `${JSON.stringify(document, null, 2)}\n`);
}
