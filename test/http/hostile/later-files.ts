import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = fileURLToPath(new URL("../../../src", import.meta.url));
/** Folders that the client does not load. */
const others = /^(callbacks|cli|node|postgres|redis|sqlite|testing)\//;

/** Loads what the client loads at its first use: virtual time does not wait for it. */
export async function loadLaterFiles(): Promise<void> {
  const paths = readdirSync(source, { recursive: true, encoding: "utf8" });
  for (const path of paths.filter((name) => name.endsWith(".ts") && !others.test(name))) {
    const file = join(source, path);
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/[^\w.]import\("([^"]+)"\)/g)) {
      await import(name.startsWith(".") ? new URL(name, pathToFileURL(file)).href : name);
    }
  }
}
