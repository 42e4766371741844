/** The files of `dist`, as the bundler describes them, and their imports. */
import { readFile, writeFile } from "node:fs/promises";

/** A file of `dist`. */
export interface Output {
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly exports: readonly string[];
  readonly inputs: Readonly<Record<string, unknown>>;
}

export type Outputs = ReadonlyMap<string, Output>;

export const dist = new URL("../dist/", import.meta.url);
const metafile = new URL("metafile-esm.json", dist);

export const readText = (name: string): Promise<string> => readFile(new URL(name, dist), "utf8");
export const writeText = (name: string, text: string): Promise<void> => writeFile(new URL(name, dist), text);

/** Reads the ES modules in `dist`, by their names. */
export async function readOutputs(): Promise<Outputs> {
  const { outputs }: { outputs: Readonly<Record<string, Output>> } = JSON.parse(await readFile(metafile, "utf8"));
  const short = (path: string) => path.replace(/^dist\//, "");
  const modules = Object.entries(outputs).map(([path, { imports, ...output }]): [string, Output] => [
    short(path),
    { ...output, imports: imports.map(({ path: imported, kind }) => ({ path: short(imported), kind })) },
  ]);
  return new Map(modules.filter(([name]) => name.endsWith(".js")));
}

export const writeOutputs = (outputs: Outputs): Promise<void> =>
  writeFile(metafile, JSON.stringify({ outputs: Object.fromEntries(outputs) }));

/** The files that `starts` import, themselves included. */
export function closureOf(outputs: Outputs, starts: readonly string[], kinds: readonly string[]): ReadonlySet<string> {
  const files = new Set(starts);
  // A set that grows while it is iterated.
  for (const file of files) {
    for (const { path, kind } of outputs.get(file)?.imports ?? []) {
      if (kinds.includes(kind)) files.add(path);
    }
  }
  return files;
}

/**
 * Changes the code of a file: it imports from `target` what `nameIn` has a name for. No file has an effect when it loads, so imports without
 * names are removed.
 */
export const redirectImports = (
  text: string,
  target: string,
  nameIn: (file: string, name: string) => string | undefined,
): string =>
  text
    .replace(/^import \{([^}]*)\} from "\.\/([^"]+)";$/gm, (statement, names: string, file: string) => {
      const bindings = names.split(",").map((binding) => {
        const [name = "", local = name] = binding.trim().split(" as ");
        const moved = nameIn(file, name);
        return moved === local ? local : moved && `${moved} as ${local}`;
      });
      return bindings.includes(undefined) ? statement : `import { ${bindings.join(", ")} } from "./${target}";`;
    })
    .replace(/^import "[^"]+";\n/gm, "");

/** The names under which one file exports bindings of others. Files can use one name for different things. */
export class Aliases {
  readonly #aliases = new Map<string, string>();
  readonly #taken: Set<string>;

  constructor(taken: readonly string[] = []) {
    this.#taken = new Set(taken);
  }

  /** The alias of what a file exports by that name. */
  of(file: string, name: string): string {
    const key = `${name} ${file}`;
    const alias = this.#aliases.get(key) ?? (this.#taken.has(name) ? `${name}_${this.#taken.size}` : name);
    this.#aliases.set(key, alias);
    this.#taken.add(alias);
    return alias;
  }

  get names(): readonly string[] {
    return [...this.#aliases.values()];
  }

  /** The statements that export them. */
  get statements(): string {
    return [...this.#aliases]
      .map(([key, alias]) => {
        const [name, file] = key.split(" ");
        return `export { ${name === alias ? name : `${name} as ${alias}`} } from "./${file}";\n`;
      })
      .join("");
  }
}
