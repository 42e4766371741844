/**
 * `npm run release`: checks what would be published, and makes the version's tag. A workflow publishes what has a tag.
 *
 * --dry-run   does not stop at a problem, lists all of them at the end, and makes no tag
 * --quick     with --dry-run: leaves out `npm run test:places` and `npm run test:site`
 * --reviewed  a person read the changed declarations: programs that compile with the old ones compile with the new ones
 */
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import semver from "semver";
import manifest from "../package.json" with { type: "json" };

const surfaces = "test/package/surface";

/** What the registry shows of a package only if its manifest says it, and how to say it. */
export function notSet(manifest: object): string[] {
  const addresses = {
    repository: "git+https://HOST/OWNER/pod-partner.git",
    homepage: "https://HOST/OWNER/pod-partner#readme",
    bugs: "https://HOST/OWNER/pod-partner/issues",
  };
  return Object.entries(addresses)
    .filter(([name]) => !Object.hasOwn(manifest, name))
    .map(([name, address]) => `npm pkg set ${name}=${address}`);
}

interface Declaration {
  readonly isExported: boolean;
  readonly text: string;
}

/** The declarations of an entry point, by their names, from a file of `test/package/surface`. */
function declarationsOf(surface: string): Map<string, Declaration> {
  const declarations = new Map<string, Declaration>();
  let isExported = true;
  for (const section of surface.split(/^\/\/ /m).slice(1)) {
    const [title = "", ...lines] = section.trim().split("\n");
    if (lines.length === 0 && title.startsWith("Used by these")) isExported = false;
    else if (title !== "Exported") declarations.set(title, { isExported, text: lines.join("\n") });
  }
  return declarations;
}

/** Whether only optional properties, and members of a class, were added: what compiles with `before`, then compiles with `after`. */
function onlyGrew(before: string, after: string): boolean {
  const optional = /^ +(readonly )?[\w$]+\?[:(]/;
  const member = /^ {4}(?!constructor\b|abstract |protected |private )\w/;
  const isClass = after.startsWith("declare class");
  const kept = before.split("\n");
  for (const line of after.split("\n")) {
    if (line === kept[0]) kept.shift();
    else if (!optional.test(line) && !(isClass && member.test(line))) return false;
  }
  return kept.length === 0;
}

/** What differs between two public surfaces. Each is the files of `test/package/surface`, by the names of the entry points. */
export function compareSurfaces(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>) {
  const removed: string[] = [];
  const changed: string[] = [];
  const added: string[] = [];
  for (const door of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [declarationsOf(before[door] ?? ""), declarationsOf(after[door] ?? "")];
    for (const name of new Set([...old.keys(), ...now.keys()])) {
      const [was, is] = [old.get(name), now.get(name)];
      const id = `${door}: ${name}`;
      if (was?.isExported && !is?.isExported) removed.push(id);
      else if (is?.isExported && !was?.isExported) added.push(id);
      // A type that is not exported and gained or lost is visible in the declarations that use it.
      else if (was && is && was.text !== is.text) (onlyGrew(was.text, is.text) ? added : changed).push(id);
    }
  }
  return { removed, changed, added };
}

type Bump = "major" | "minor" | "patch";

/** The tagged version that a new one is compared with: the newest, but a release candidate only while there is nothing else. */
export function baselineOf(tagged: readonly string[]): string | undefined {
  const newestFirst = semver.rsort([...tagged]);
  return newestFirst.find((version) => semver.prerelease(version) === null) ?? newestFirst[0];
}

/** The lowest version that may follow. Below 1.0 a minor version may break, as `^0.1.2` says; among release candidates each one may. */
export function leastVersion(baseline: string, bump: Bump): string {
  const lower = semver.major(baseline) > 0 ? bump : bump === "major" ? "minor" : "patch";
  return semver.inc(baseline, semver.prerelease(baseline) ? "prerelease" : lower) ?? baseline;
}

/** Why a version may not follow these, or undefined. A release candidate counts as the version that it leads to. */
export function refusal(version: string, tagged: readonly string[], bump: Bump): string | undefined {
  if (semver.valid(version) !== version) return `${version} is no version.`;
  const [newest] = semver.rsort([...tagged]);
  const baseline = baselineOf(tagged);
  if (newest === undefined || baseline === undefined) return undefined;
  if (semver.lte(version, newest)) return `${version} is not newer than ${newest}, which has a tag.`;
  const least = leastVersion(baseline, bump);
  const leadsTo = semver.prerelease(baseline) ? version : version.replace(/-.*/, "");
  if (semver.lt(leadsTo, least)) return `The version must be at least ${least}: ${bump} since ${baseline}.`;
  return undefined;
}

const git = (...words: string[]): string => execFileSync("git", words, { encoding: "utf8" });

/** The surface of a tag, or of the working tree. The tests of the package compare the latter with the build. */
function surfaceOf(tag?: string): Record<string, string> {
  const paths =
    tag === undefined
      ? readdirSync(surfaces).map((file) => `${surfaces}/${file}`)
      : git("ls-tree", "-r", "--name-only", tag, surfaces).split("\n").filter(Boolean);
  const read = (path: string) => (tag === undefined ? readFileSync(path, "utf8") : git("show", `${tag}:${path}`));
  return Object.fromEntries(paths.map((path) => [basename(path, ".txt"), read(path)]));
}

/** What `npm pack --json` says of a package. */
interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

function pack(): Packed {
  const folder = mkdtempSync(join(tmpdir(), "pod-partner-release-"));
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [packed] = JSON.parse(execFileSync("npm", words, { encoding: "utf8" })) as [Packed];
  rmSync(folder, { recursive: true });
  return packed;
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1).padStart(8)} kB`;

function release(options: { "dry-run": boolean; quick: boolean; reviewed: boolean }): void {
  const { version } = manifest;
  const table = new Map([["Version", version]]);
  const problems: string[] = [];
  const check = (title: string, found: readonly string[], fine: string): void => {
    table.set(title, found.length === 0 ? fine : `${found.length} problem${found.length === 1 ? "" : "s"}`);
    problems.push(...found);
    if (!options["dry-run"] && found.length > 0) throw new Error(`${title}:\n${found.join("\n")}`);
  };
  const run = (title: string, ...words: string[]): void => {
    console.log(`\n> npm ${words.join(" ")}`);
    const { status } = spawnSync("npm", words, { stdio: "inherit" });
    check(title, status === 0 ? [] : [`\`npm ${words.join(" ")}\` failed.`], "passed");
  };

  check("Working tree", git("status", "--porcelain").split("\n").filter(Boolean), "clean");
  const waiting = globSync(".changeset/*.md").filter((path) => basename(path) !== "README.md");
  check(
    "Changesets",
    waiting.map((path) => `${path} is in no version: npm run bump`),
    "all in a version",
  );
  const isLogged = readFileSync("CHANGELOG.md", "utf8").includes(`\n## ${version}\n`);
  check("Change log", isLogged ? [] : [`CHANGELOG.md has no heading "## ${version}".`], "has the version");

  const tagged = git("tag", "--merged", "HEAD", "--list", "v*")
    .split("\n")
    .map((tag) => tag.slice(1));
  const versions = tagged.filter((tag) => semver.valid(tag));
  const baseline = baselineOf(versions);
  table.set("Compared with", baseline ?? "nothing: the first release");
  const { removed, changed, added } = compareSurfaces(baseline ? surfaceOf(`v${baseline}`) : {}, surfaceOf());
  const breaks = removed.length > 0 || (changed.length > 0 && !options.reviewed);
  const bump = breaks ? "major" : added.length + changed.length > 0 ? "minor" : "patch";
  if (baseline !== undefined) {
    for (const [what, names] of Object.entries({ removed, changed, added })) {
      for (const name of names) console.log(`${what.padEnd(8)} ${name}`);
    }
    if (changed.length > 0) console.log(git("diff", `v${baseline}`, "--", surfaces));
    table.set("Surface", `${removed.length} removed, ${changed.length} changed, ${added.length} added: ${bump}`);
    table.set("At least", leastVersion(baseline, bump));
  }
  const refused = refusal(version, versions, bump);
  const hint = breaks && removed.length === 0 ? " If the changed declarations break nobody: --reviewed." : "";
  check("Version rule", refused === undefined ? [] : [refused + hint], "kept");

  run("Build", "run", "build");
  const { files, size, unpackedSize } = pack();
  console.log(["", ...files.map((file) => `${kilobytes(file.size)}  ${file.path}`)].join("\n"));
  table.set("Package", `${files.length} files,${kilobytes(size)} packed,${kilobytes(unpackedSize)} unpacked`);
  run("Tests of the package", "exec", "vitest", "run", "test/package");
  for (const kind of ["places", "site"]) {
    if (options.quick) table.set(`Tests of ${kind}`, "left out");
    else run(`Tests of ${kind}`, "run", `test:${kind}`);
  }

  if (options["dry-run"]) table.set("Tag", "none in a dry run");
  else {
    git("tag", "--annotate", `v${version}`, "--message", `pod-partner ${version}`);
    table.set("Tag", `v${version}: publish it with git push origin v${version}`);
  }
  const absent = notSet(manifest);
  if (absent.length > 0) {
    console.log("\nNot in package.json. Without them the registry has no links, and README no picture there:");
    console.log(absent.map((command) => `  ${command}`).join("\n"));
  }
  console.log(["", ...[...table].map(([title, value]) => `${title.padEnd(22)}${value}`)].join("\n"));
  if (problems.length > 0) {
    console.error(`\nNot ready to release:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
    process.exitCode = 1;
  }
}

if (import.meta.main) {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({ options: { "dry-run": flag, quick: flag, reviewed: flag } });
  if (values.quick && !values["dry-run"]) throw new Error("A release runs all tests: --quick needs --dry-run.");
  release(values);
}
