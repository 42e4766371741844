import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { fold } from "../../scripts/bump.ts";
import { baselineOf, compareSurfaces, leastVersion, notSet, refusal } from "../../scripts/release.ts";

const brand = `// Brand
interface Brand {
    readonly reference: string;
    readonly owner: {
        name: string;
    };
}`;
const resource = `// BrandsResource
declare class BrandsResource {
    #private;
    list(options?: BrandListOptions): Brand[];
}`;
const options = `// BrandListOptions
interface BrandListOptions {
    readonly signal?: AbortSignal;
}`;

const surface = (exported: readonly string[], used: readonly string[] = []) => ({
  index: `${["// Exported", ...exported].join("\n\n")}\n\n${["// Used by these, not exported", ...used].join("\n\n")}\n`,
});
const before = surface([brand, resource], [options]);

describe("the comparison of two public surfaces", () => {
  it("finds nothing where nothing differs", () => {
    expect(compareSurfaces(before, before)).toEqual({ removed: [], changed: [], added: [] });
  });

  it("reads the reviewed surface of the package", async () => {
    const index = await readFile(new URL("surface/index.txt", import.meta.url), "utf8");
    const { added } = compareSurfaces({}, { index });
    expect(added).toContain("index: PodPartner");
    expect(added).not.toContain("index: Exported");
    expect(added).toHaveLength(index.split("// Used by these")[0]?.match(/^\/\/ (?!Exported)/gm)?.length ?? 0);
  });

  it("finds removed exports, also those that are only used now, and those of a removed entry point", () => {
    const two = { ...before, node: surface([options]).index };
    expect(compareSurfaces(two, surface([resource], [brand, options])).removed).toEqual([
      "index: Brand",
      "node: BrandListOptions",
    ]);
  });

  it("finds added exports, also those that were only used before, and those of an added entry point", () => {
    const after = { ...surface([brand, resource, options]), node: surface(["// Fresh\ntype Fresh = 1;"]).index };
    expect(compareSurfaces(before, after)).toEqual({
      removed: [],
      changed: [],
      added: ["index: BrandListOptions", "node: Fresh"],
    });
  });

  it.each([
    [
      "an optional property",
      brand,
      brand.replace("    readonly owner", "    readonly logo?: URL;\n    readonly owner"),
    ],
    [
      "an optional property of a nested object",
      brand,
      brand.replace("name: string;", "name: string;\n        city?: string;"),
    ],
    [
      "an optional method",
      brand,
      brand.replace("    readonly owner", "    rename?(name: string): void;\n    readonly owner"),
    ],
    ["a method of a class", resource, resource.replace("    list", "    get(reference: string): Brand;\n    list")],
    ["a field of a class", resource, resource.replace("    list", "    readonly size: number;\n    list")],
  ])("counts %s as added", (_, old, now) => {
    expect(now).not.toBe(old);
    const { removed, changed, added } = compareSurfaces(surface([], [old]), surface([], [now]));
    expect([removed, changed, added.length]).toEqual([[], [], 1]);
  });

  it.each([
    [
      "a required property",
      brand,
      brand.replace("    readonly owner", "    readonly logo: string;\n    readonly owner"),
    ],
    ["a property that became optional", brand, brand.replace("reference:", "reference?:")],
    ["a property that became required", options, options.replace("signal?:", "signal:")],
    ["a removed property", brand, brand.replace("    readonly reference: string;\n", "")],
    ["an abstract method", resource, resource.replace("    list", "    abstract get(): Brand;\n    list")],
    ["a constructor", resource, resource.replace("    list", "    constructor(name: string);\n    list")],
    ["another parameter", resource, resource.replace("list(options", "list(name: string, options")],
    ["the first private field of a class", resource.replace("    #private;\n", ""), resource],
  ])("counts %s as changed", (_, old, now) => {
    expect(now).not.toBe(old);
    const { removed, changed, added } = compareSurfaces(surface([old]), surface([now]));
    expect([removed, changed.length, added]).toEqual([[], 1, []]);
  });
});

describe("the rule of versions", () => {
  it("compares with the newest version, and with a release candidate only before the first version", () => {
    expect(baselineOf([])).toBeUndefined();
    expect(baselineOf(["1.0.0-rc.2", "1.0.0-rc.10"])).toBe("1.0.0-rc.10");
    expect(baselineOf(["1.9.0", "1.10.0", "2.0.0-rc.1"])).toBe("1.10.0");
  });

  it.each([
    ["1.2.3", "patch", "1.2.4"],
    ["1.2.3", "minor", "1.3.0"],
    ["1.2.3", "major", "2.0.0"],
    ["0.2.3", "patch", "0.2.4"],
    ["0.2.3", "minor", "0.2.4"],
    ["0.2.3", "major", "0.3.0"],
    ["1.0.0-rc.1", "major", "1.0.0-rc.2"],
  ] as const)("after %s, a %s change needs at least %s", (baseline, bump, least) => {
    expect(leastVersion(baseline, bump)).toBe(least);
    expect(refusal(least, [baseline], bump)).toBeUndefined();
  });

  it.each([
    ["any first version", "1.0.0-rc.1", [], "major"],
    ["a higher version than needed", "2.0.0", ["1.2.3"], "patch"],
    ["a release candidate of the version that is needed", "2.0.0-rc.1", ["1.2.3"], "major"],
    ["the next release candidate", "2.0.0-rc.2", ["1.2.3", "2.0.0-rc.1"], "major"],
    ["the version after its release candidates", "1.0.0", ["1.0.0-rc.1"], "major"],
  ] as const)("allows %s", (_, version, tagged, bump) => {
    expect(refusal(version, tagged, bump)).toBeUndefined();
  });

  it.each([
    [
      "a version that is too low",
      "1.3.0",
      ["1.2.3"],
      "major",
      "The version must be at least 2.0.0: major since 1.2.3.",
    ],
    [
      "a release candidate that is too low",
      "1.3.0-rc.1",
      ["1.2.3"],
      "major",
      "The version must be at least 2.0.0: major since 1.2.3.",
    ],
    ["a version that has a tag", "1.2.3", ["1.2.3"], "patch", "1.2.3 is not newer than 1.2.3, which has a tag."],
    [
      "an older release candidate",
      "2.0.0-rc.1",
      ["1.2.3", "2.0.0-rc.2"],
      "patch",
      "2.0.0-rc.1 is not newer than 2.0.0-rc.2, which has a tag.",
    ],
    ["what is no version", "v1.2", [], "patch", "v1.2 is no version."],
  ] as const)("refuses %s", (_, version, tagged, bump, message) => {
    expect(refusal(version, tagged, bump)).toBe(message);
  });
});

describe("what a manifest lacks", () => {
  it("is named with the command that sets it", () => {
    expect(notSet({ repository: "github:ada/pod-partner", homepage: "https://example.com" })).toEqual([
      expect.stringMatching(/^npm pkg set bugs=https:/),
    ]);
    expect(notSet({ repository: "", homepage: "", bugs: "" })).toEqual([]);
  });
});

describe("a version whose entry in the change log is written by hand", () => {
  const written = "## 1.0.0\n\nThe first version.\n\n### Calls\n\n- A method for every endpoint.\n";

  it("gets the changesets as a list at its end", () => {
    const bumped = `# Changelog\n\n## 1.0.0\n\n### Minor Changes\n\n- 0a1b2c3: \`init\` is new.\n\n  And more.\n\n### Patch Changes\n\n- A fix.\n\n${written}\n## 0.9.0\n\n- Old.\n`;
    expect(fold(bumped, "1.0.0")).toBe(
      `# Changelog\n\n${written}\n### Also\n\n- \`init\` is new.\n\n  And more.\n\n- A fix.\n\n## 0.9.0\n\n- Old.\n`,
    );
  });

  it("stays as it is without changesets", () => {
    expect(fold(`# Changelog\n\n## 1.0.0\n\n${written}`, "1.0.0")).toBe(`# Changelog\n\n${written}`);
  });

  it("is left alone when no entry is written by hand", () => {
    const log = "# Changelog\n\n## 1.1.0\n\n### Minor Changes\n\n- A.\n\n## 1.0.0\n\n- B.\n";
    expect(fold(log, "1.1.0")).toBe(log);
  });
});
