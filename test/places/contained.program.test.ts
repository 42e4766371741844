import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { root } from "../package/tarball.ts";
import { toolOf } from "./places.ts";

const library = toolOf("@cyclonedx/cyclonedx-library");

it.skipIf(library === undefined)("dist/cyclonedx.json is valid for CycloneDX's own library", async () => {
  const resolve = createRequire(`${library}/package.json`).resolve("@cyclonedx/cyclonedx-library");
  const { Spec, Validation } = await import(pathToFileURL(resolve).href);
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(await readFile(`${root}/dist/cyclonedx.json`, "utf8"))).toBeNull();
  expect(
    await validator.validate('{ "bomFormat": "CycloneDX", "specVersion": "1.6", "components": {} }'),
  ).not.toBeNull();
});
