import * as z from "zod/mini";
import type { Download } from "../../../binary/download.ts";
import { type Issue, RequestValidationError } from "../../../errors/validation.ts";
import { reference } from "../../../references/schema.ts";
import { check } from "../../../schemas/check.ts";
import { open } from "../../../schemas/shape.ts";
import type { ClientStore } from "../../../stores/client-store.ts";
import { fromJson, toJson } from "../../../stores/json.ts";
import { wordsOf } from "../../../util/foreign.ts";
import { KeyedMutex } from "../../../util/keyed-mutex.ts";
import type { Render } from "../renders.schema.ts";
import type { BatchWaits } from "./batch-waits.ts";
import { Latest } from "./latest.ts";
import type { SaveOptions } from "./options.ts";
import type { RowWork } from "./row-work.ts";

/** Saved paths that one batch keeps in memory, to find two renders with the same name. */
const most = 10_000;

/** What is remembered of a saved picture. A file with another size or time was changed since, or is on another machine. */
interface SavedFile {
  readonly version: 1;
  readonly reference: string;
  readonly size: number;
  readonly modified: number;
}

const savedFile = () =>
  open<SavedFile>({
    version: z.literal(1),
    reference: reference("Render"),
    size: z.number(),
    modified: z.number(),
  });

/** The default name: the pair, and the extension if it is safe in a file name. */
function nameOfPair({ compositionReference, imageReference, media }: Render): string {
  const extension = media?.extension ?? "";
  const ending = /^[a-z0-9]{1,8}$/i.test(extension) ? `.${extension}` : "";
  return `${compositionReference}-${imageReference}${ending}`;
}

const refused = (option: keyof SaveOptions, message: string): RequestValidationError => {
  const issue: Issue = { path: ["download", option], message };
  return new RequestValidationError({ issues: [issue] });
};

/** Saves the picture of each render in a folder, unless the store knows that its file is there. */
export class SavedPictures {
  readonly #options: SaveOptions;
  readonly #store: ClientStore;
  readonly #waits: BatchWaits;
  readonly #files = new KeyedMutex();
  readonly #written = new Latest<string>(most);

  constructor(options: SaveOptions, store: ClientStore, waits: BatchWaits) {
    this.#options = options;
    this.#store = store;
    this.#waits = waits;
  }

  /** Creates the folder: a wrong one must be found before a render deducts tokens. */
  async open(): Promise<void> {
    const { access, constants, mkdir } = await import("node:fs/promises");
    const { directory } = this.#options;
    try {
      await mkdir(directory, { recursive: true });
      await access(directory, constants.W_OK);
    } catch (error) {
      throw refused("directory", `cannot be used: ${wordsOf(error)}`);
    }
  }

  /** Resolves to the path of the saved picture. `download` opens the picture and passes it to the function that saves it. */
  async save(
    render: Render,
    row: RowWork,
    download: (save: (media: Download) => Promise<void>) => Promise<void>,
  ): Promise<string> {
    const path = await this.#pathOf(render, row);
    const work = async () => {
      const key = await keyOf(path);
      if (await this.#isSaved(key, path, render)) return;
      await download(async (media) => this.#write(key, path, render, media));
    };
    // Rows of the same pair save its picture once.
    await this.#files.take(path, work, (turn) => this.#waits.within(row.left, turn));
    return path;
  }

  async #pathOf(render: Render, { row }: RowWork): Promise<string> {
    const { isAbsolute, relative, resolve, sep } = await import("node:path");
    const { directory, name } = this.#options;
    const given: unknown = name === undefined ? nameOfPair(render) : name(row, render);
    if (typeof given !== "string" || given === "")
      throw refused("name", "expected a function that returns a file name");
    const path = resolve(directory, given);
    const within = relative(resolve(directory), path);
    if (within === "" || within === ".." || within.startsWith(`..${sep}`) || isAbsolute(within))
      throw refused("name", `returned ${JSON.stringify(given)}, which is not a file within the folder`);
    const other = this.#written.get(path) ?? render.reference;
    if (other !== render.reference)
      throw refused("name", `returned ${JSON.stringify(given)} for two renders: ${other} and ${render.reference}`);
    this.#written.set(path, render.reference);
    return path;
  }

  async #isSaved(key: string, path: string, render: Render): Promise<boolean> {
    const checked = check(savedFile, fromJson(await this.#store.get(key)), []);
    if (!checked.ok) return false;
    const known = checked.value as SavedFile;
    if (known.reference !== render.reference) return false;
    const { stat } = await import("node:fs/promises");
    const file = await stat(path).catch(() => undefined);
    return file?.size === known.size && file.mtimeMs === known.modified;
  }

  async #write(key: string, path: string, { reference }: Render, media: Download): Promise<void> {
    const { mkdir, stat } = await import("node:fs/promises");
    const { dirname } = await import("node:path");
    try {
      await mkdir(dirname(path), { recursive: true });
    } catch (error) {
      await media.cancel();
      throw error;
    }
    await media.saveTo(path);
    const { size, mtimeMs } = await stat(path);
    const saved: SavedFile = { version: 1, reference, size, modified: mtimeMs };
    await this.#store.set(key, toJson(saved));
  }
}

/** A path can be too long for a key, and have other characters. */
async function keyOf(path: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(path)));
  return `picture:${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
