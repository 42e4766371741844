import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const tool = (path: string) => join(root, "node_modules", path);

/** The shortest program that uses the package. */
const program = `import { PodPartner } from "pod-partner";
export const validate = () => new PodPartner().auth.validate();
`;

/** A project with the package from its tarball, the dependencies that npm installs for it, and nothing else. */
export class Project {
  readonly path = mkdtempSync(join(tmpdir(), "pod-partner-weight-"));

  /** @param folder The checkout that is packed. */
  constructor(folder = root) {
    const options = { cwd: this.path, encoding: "utf8" } as const;
    const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", resolve(folder)], options);
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    this.#write("package.json", JSON.stringify({ private: true, type: "module" }));
    execFileSync("npm", ["install", "--silent", "--prefer-offline", "--no-audit", filename], options);
    this.#write("program.ts", program);
    this.#write("empty.ts", "export {};\n");
  }

  /** Megabytes of the installation. */
  installed(): number {
    const modules = join(this.path, "node_modules");
    const sizes = readdirSync(modules, { recursive: true, encoding: "utf8" })
      .map((name) => statSync(join(modules, name)))
      .map((entry) => (entry.isFile() ? entry.size : 0));
    return sizes.reduce((sum, size) => sum + size, 0) / 1e6;
  }

  /** Megabytes of the compiler for one of the project's files: the live heap after a garbage collection, if `tsc` can run one. */
  compiled(file: "program.ts" | "empty.ts"): number {
    const how = "--noEmit --strict --skipLibCheck --target es2023 --module nodenext --types node --extendedDiagnostics";
    const typeRoots = ["--typeRoots", tool("@types")];
    const compiler = ["--expose-gc", tool("typescript/bin/tsc"), file, ...how.split(" "), ...typeRoots];
    const output = execFileSync(process.execPath, compiler, { cwd: this.path, encoding: "utf8" });
    return Number(/Memory used:\s+(\d+)K/.exec(output)?.[1]) / 1e3;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }
}
