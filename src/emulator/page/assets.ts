import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const types = {
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

type Name = keyof typeof types;

interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: (typeof types)[Name];
}

/** Whether the page has a file with this name. */
export const isAsset = (name: string): name is Name => Object.hasOwn(types, name);

/**
 * Reads a file of the page from the package's `dist/page`. The package finds itself by its name, so that the emulator serves the
 * same files from its build, from its sources, and from a program that bundles it (decision 0019).
 */
export async function readAsset(name: Name): Promise<Asset> {
  const manifest = createRequire(import.meta.url).resolve("pod-partner/package.json");
  const bytes = await readFile(join(dirname(manifest), "dist/page", name)).catch((cause: unknown) => {
    throw new Error("The page of the emulator is not built: run `npm run build`", { cause });
  });
  return { bytes: new Uint8Array(bytes), type: types[name] };
}
