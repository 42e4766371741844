import { expect, it } from "vitest";
import { sources } from "./source.ts";

/** The folders of the emulator, from the lowest floor to the highest. A folder imports only lower floors, and files of its own. */
const floors = [
  ["base"],
  ["clock", "faults"],
  ["recorder", "work"],
  ["catalog"],
  ["settings"],
  ["state"],
  ["rules"],
  ["http"],
  ["page", "routes"],
  ["controls"],
  ["server"],
  ["simulate"],
  ["index.ts"],
];

const root = "emulator/";
const folderOf = (path: string): string => path.slice(root.length).split("/", 1)[0] ?? "";
const floorOf = (path: string): number => floors.findIndex((floor) => floor.includes(folderOf(path)));

it("the folders of the emulator import lower floors only", () => {
  const files = sources.filter(({ path }) => path.startsWith(root));
  expect(files.filter(({ path }) => floorOf(path) < 0).map(({ path }) => path)).toEqual([]);
  const against = files.flatMap(({ path, dependencies }) =>
    dependencies
      .flatMap(({ file }) => (file?.startsWith(root) ? [file] : []))
      .filter((file) => folderOf(file) !== folderOf(path) && floorOf(file) >= floorOf(path))
      .map((file) => `${path} imports ${file}`),
  );
  expect(against).toEqual([]);
});
