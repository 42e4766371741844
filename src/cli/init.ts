import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { nearest } from "../schemas/messages.ts";
import { command, Failure, usage } from "./arguments.ts";
import { columns, paint, print, wrap } from "./terminal.ts";

/** The folder of the installed package. */
const home = fileURLToPath(new URL("..", import.meta.url));
const folder = join(home, "examples");

/** The folders that are one program of several files. */
const programs: readonly string[] = ["fleet", "postgres"];
const isCode = (file: string): boolean => /\.(ts|mjs|py)$/.test(file);
const codeOf = (file: string): string => readFileSync(join(folder, file), "utf8");

/** The parts of an example. */
const partPath = /from "(\.\.?\/[^"]+)"/g;
/** The parts, and the example that it runs with `import()`. */
const anyPath = /(?:from |import\()"(\.\.?\/[^"]+)"/g;
/** The files that an example reads, such as an image. */
const dataPath = /new URL\("([^"]+)", import\.meta\.url\)/g;

/** The files that a file imports by their paths, with theirs. */
function importsOf(file: string, pattern: RegExp, found = new Set<string>()): ReadonlySet<string> {
  for (const [, path = ""] of codeOf(file).matchAll(pattern)) {
    const imported = join(dirname(file), path).replace(/(?<!\.ts)$/, ".ts");
    if (found.has(imported)) continue;
    found.add(imported);
    importsOf(imported, pattern, found);
  }
  return found;
}

interface Example {
  readonly name: string;
  /** Its files, by their paths in the folder of the examples. The first one describes it. */
  readonly files: readonly string[];
}

const filesIn = (path: string): readonly string[] =>
  readdirSync(join(folder, path))
    .sort()
    .map((name) => join(path, name));

/** The examples of the package. A file that another example imports is not an example of its own. */
function examples(): readonly Example[] {
  const names = filesIn(".").filter((file) => !/^gallery/.test(file));
  const folders = names.filter((file) => statSync(join(folder, file)).isDirectory());
  const single = [...names, ...folders.filter((path) => !programs.includes(path)).flatMap(filesIn)].filter(isCode);
  const imported = new Set(single.flatMap((file) => [...importsOf(file, partPath)]));
  return [
    ...single
      .filter((file) => !imported.has(file))
      .map((file) => ({ name: file.replace(/\.ts$/, ""), files: [file, ...importsOf(file, anyPath)] })),
    ...folders.filter((path) => programs.includes(path)).map((name) => ({ name, files: filesIn(name).toReversed() })),
  ].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The first sentence of the comment at the beginning of a file. */
function summaryOf({ files: [first = ""] }: Example): string {
  const [, comment = ""] = /^(?:\/\*\*|""")([\s\S]*?)(?:\*\/|""")/.exec(codeOf(first)) ?? [];
  const [sentence = ""] = comment
    .replace(/\n \*/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .split(/(?<=\.) /);
  return sentence;
}

function listed(all: readonly Example[]): readonly string[] {
  return [
    ...all.flatMap((example) => [
      `  ${paint("bold", example.name)}`,
      ...wrap(summaryOf(example), columns() - 6).map((line) => `      ${line}`),
    ]),
    "",
    "Copy one: npx pod-partner init <name>",
  ];
}

function exampleNamed(name: string, all: readonly Example[]): Example {
  const found = all.find((example) => example.name === name) ?? all.find((example) => basename(example.name) === name);
  if (found !== undefined) return found;
  const likely = nearest(
    name,
    all.flatMap((example) => [example.name, basename(example.name)]),
  );
  const hint = likely === undefined ? "pod-partner init lists them." : `Did you mean ${likely}?`;
  throw usage(`${JSON.stringify(name)} is not an example. ${hint}`);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function dependenciesIn(path: string): Readonly<Record<string, string>> {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(path, "utf8"));
    return { ...devDependencies, ...dependencies };
  } catch {
    return {};
  }
}

/** The tarball, folder or URL from which the nearest package.json above has a package: the registry may not have its version. */
function sourceOf(name: string, target: string): string | undefined {
  let at = process.cwd();
  const here = () => dependenciesIn(join(at, "package.json"))[name];
  while (here() === undefined && dirname(at) !== at) at = dirname(at);
  const source = here();
  if (source === undefined || /^(https?:|git\b)/.test(source)) return source;
  const [, kind, path = ""] = /^(file:|link:|portal:|(?=\.{0,2}\/))(.+)$/.exec(source) ?? [];
  return kind === undefined ? undefined : `${kind}${relative(target, resolve(at, path)).replaceAll("\\", "/")}`;
}

/** The packages that the files import, with the versions that they are tested with. */
function packagesOf(
  codes: readonly string[],
  { name, version, devDependencies }: Manifest,
  target: string,
): Record<string, string> {
  const imports = codes.flatMap((code) =>
    [...code.matchAll(/from "((?:@[^/"]+\/)?[^./"][^/"]*)/g)].map(([, one]) => one),
  );
  const packages = [...new Set(imports)].filter((one) => one !== undefined && !one.startsWith("node:")).sort();
  const versionOf = (one: string) =>
    one === name ? (sourceOf(name, target) ?? version) : (devDependencies[one] ?? "*");
  return Object.fromEntries(packages.map((one = "") => [one, versionOf(one)]));
}

/** The variables of the environment that the files read, except those of the client. */
const variablesOf = (codes: readonly string[]): readonly string[] =>
  [
    ...new Set(
      codes.flatMap((code) =>
        [...code.matchAll(/\b[A-Z]+_[A-Z_]+\b(?=[^;\n]*process\.env)|(?<=process\.env\.)[A-Z_]+\b(?! \?\?)/g)].map(
          ([one]) => one,
        ),
      ),
    ),
  ]
    .filter((name) => !name.startsWith("POD_PARTNER_"))
    .sort();

/** The page that lists the examples. */
const listPage = "cookbook.md";

/** The page of the documentation that explains an example: the list of examples only if no other one does. */
function pageOf({ name, files: [first = ""] }: Example): string | undefined {
  const path = programs.includes(name) ? `examples/${name}/` : `examples/${first})`;
  const shows = (page: string) => readFileSync(join(home, "docs", page), "utf8").includes(path);
  const pages = readdirSync(join(home, "docs"))
    .filter((page) => page.endsWith(".md") && page !== listPage)
    .sort();
  return [...pages, listPage].find(shows);
}

/** What the reader does next, line by line. */
function nextSteps(example: Example, target: string): readonly string[] {
  const [main = ""] = example.files;
  // An example that runs another one sets the variables of that one.
  const codes = programs.includes(example.name)
    ? example.files.map(codeOf)
    : [main, ...importsOf(main, partPath)].map(codeOf);
  const run = `${main.endsWith(".py") ? "python3" : "node"} ${basename(main)}`;
  const page = pageOf(example);
  const variables = variablesOf(codes);
  const needs = variables.length === 0 ? [] : ["", ...wrap(`Set ${variables.join(", ")} first.`, columns())];
  // `dev` and the variables have no effect on a program that makes an emulator of its own.
  const hasEmulator = codes.some((code) => /\b(create|start)Emulator\(/.test(code));
  const command = example.name.startsWith("verify/") ? "verify" : "dev";
  const start = hasEmulator ? run : `npx pod-partner ${command} -- ${run}`;
  const steps = [`cd ${target}`, ...(main.endsWith(".py") ? [] : ["npm install"]), start];
  return [
    `${example.files.length === 1 ? basename(main) : `${example.files.length} files`} in ${target}/. ${summaryOf(example)}`,
    "",
    ...steps.map((step) => `  ${step}`),
    ...needs,
    "",
    ...wrap(
      [
        hasEmulator
          ? "It runs on an emulator of its own; for the service, remove the emulator and make the client with `new PodPartner()`, which reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY."
          : command === "verify"
            ? "`verify` runs it against an emulator, once for each fault."
            : "`dev` runs it against an emulator; for the service, set POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY and leave `npx pod-partner dev --` out.",
        ...(page === undefined ? [] : [`It is explained in node_modules/pod-partner/docs/${page}.`]),
      ].join(" "),
      columns(),
    ),
  ];
}

function copy(example: Example): readonly string[] {
  const target = basename(example.name).replace(/\.\w+$/, "");
  if (existsSync(target)) throw new Failure(`The folder ${target} exists: rename it, or run this in another folder.`);
  const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as Manifest;
  const root = dirname(example.files[0] ?? "");
  // In a copy, the paths of the repository name nothing, and the folders beside that of the example are in it.
  const inCopy = (path: string) => path.replace(/^\.\.\//, "./");
  const files = example.files.map((file) => {
    const code = codeOf(file).replace(/examples\/([\w-]+\/)?/g, "");
    return [
      inCopy(relative(root, file)),
      code.replace(anyPath, (text, path) => text.replace(path, inCopy(path))),
    ] as const;
  });
  const codes = files.map(([, code]) => code);
  mkdirSync(target);
  for (const [file, code] of files) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    writeFileSync(join(target, file), code);
  }
  for (const file of example.files) {
    for (const [, path = ""] of codeOf(file).matchAll(dataPath)) {
      const data = join(dirname(file), path);
      copyFileSync(join(folder, data), join(target, inCopy(relative(root, data))));
    }
  }
  if (files.some(([file]) => !file.endsWith(".py"))) {
    const made = { name: target, private: true, type: "module", dependencies: packagesOf(codes, manifest, target) };
    writeFileSync(join(target, "package.json"), `${JSON.stringify(made, null, 2)}\n`);
  }
  return nextSteps(example, target);
}

/** `pod-partner init`: copies an example of the package into a folder of its own. */
export const init = command({
  name: "init",
  summary: "Copies an example program into a new folder. Without a name, it lists them.",
  flags: {},
  notes: ["It makes a folder with the name of the example, and changes nothing else: pod-partner init place-an-order"],
  operand: "example",
  run: async (_, [name]) => {
    const all = examples();
    print(...(name === undefined ? listed(all) : copy(exampleNamed(name, all))));
    return 0;
  },
});
