import * as z from "zod/mini";
import type { Download } from "../../../binary/download.ts";
import { RequestValidationError } from "../../../errors/validation.ts";
import { reference } from "../../../references/schema.ts";
import { check } from "../../../schemas/check.ts";
import { open } from "../../../schemas/shape.ts";
import type { ClientStorage } from "../../../storage/client-storage.ts";
import { fromJson, toJson } from "../../../storage/values.ts";
import { onAbort, unlessAborted } from "../../../util/abort-signals.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import { wordsOf } from "../../../util/foreign.ts";
import { KeyedMutex } from "../../../util/keyed-mutex.ts";
import { Latest } from "../../../util/latest.ts";
import { hexOf, sha256 } from "../../../util/sha256.ts";
import type { Slots } from "../../../util/slots.ts";
import type { Render } from "../renders.schema.ts";
import type { BatchCalls, Row } from "./calls.ts";
import type { SaveOptions } from "./options.ts";
import type { CompletedMockup, RenderedMockup, SavedMockup } from "./outcome.ts";

/** Saved paths that one batch keeps in memory, to find two renders with the same name. */
const mostPaths = 10_000;

export type MockupValue = RenderedMockup | SavedMockup | CompletedMockup;

/** Resolves to the value of an outcome, when the caller receives it. */
export type TakeMockup = () => Promise<MockupValue>;

/** What the pictures of a batch need. */
export interface PictureParts {
  readonly calls: BatchCalls;
  readonly clock: PartnerClock;
  readonly store: ClientStorage;
  readonly slots: Slots;
  /**
   * Milliseconds from the request for a picture until it is closed, unless the caller has received it. They count from the request, because
   * its `timeout` does, and because pictures that share a connection wait for each other.
   */
  readonly patience: number;
}

const openPicture = ({ calls }: PictureParts, { reference }: Render, row: Row): Promise<Download> =>
  calls.media(reference, row.reading());

/**
 * Opens the picture of a render. It keeps its place until the caller receives it, so that few are open. When that takes long, it is closed,
 * and opened again at that moment.
 */
export async function heldPicture(parts: PictureParts, render: Render, row: Row): Promise<TakeMockup> {
  const { clock, slots, patience } = parts;
  const giveBack = await slots.take(row.signal);
  const closes = clock.now() + patience;
  let media: Download;
  try {
    media = await openPicture(parts, render, row);
  } catch (error) {
    giveBack();
    throw error;
  }
  let isOpen = true;
  const stopTimer = clock.after(Math.max(0, closes - clock.now()), () => {
    isOpen = false;
    void media.cancel();
  });
  const letGo = () => {
    stopTimer();
    giveBack();
  };
  const stopListening = onAbort(row.signal, letGo);
  return async () => {
    stopListening();
    letGo();
    return { render, media: isOpen ? media : await openPicture(parts, render, row) };
  };
}

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

const refused = (option: keyof SaveOptions, message: string): RequestValidationError =>
  new RequestValidationError({ issues: [{ path: ["download", option], message }] });

/** The folder of a batch. It saves the picture of each render there, unless the store knows that its file is there. */
export class PictureFolder {
  readonly #parts: PictureParts;
  readonly #options: SaveOptions;
  readonly #files = new KeyedMutex();
  readonly #written = new Latest<string>(mostPaths);

  constructor(parts: PictureParts, options: SaveOptions) {
    this.#parts = parts;
    this.#options = options;
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

  /** Resolves to the path of the saved picture. */
  async save(render: Render, row: Row): Promise<string> {
    const path = await this.#pathOf(render, row);
    // Rows of the same pair save its picture once.
    await this.#files.take(
      path,
      () => this.#saveOnce(path, render, row),
      (turn) => unlessAborted(turn, row.signal),
    );
    return path;
  }

  async #pathOf(render: Render, { row }: Row): Promise<string> {
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

  async #saveOnce(path: string, render: Render, row: Row): Promise<void> {
    const { store, slots } = this.#parts;
    const { mkdir, stat } = await import("node:fs/promises");
    const { dirname } = await import("node:path");
    const key = await keyOf(path);
    const checked = check(savedFile, fromJson(await store.get(key)), []);
    const known = checked.ok ? (checked.value as SavedFile) : undefined;
    if (known?.reference === render.reference) {
      const file = await stat(path).catch(() => undefined);
      if (file?.size === known.size && file.mtimeMs === known.modified) return;
    }
    await mkdir(dirname(path), { recursive: true });
    const giveBack = await slots.take(row.signal);
    try {
      await (await openPicture(this.#parts, render, row)).saveTo(path);
    } finally {
      giveBack();
    }
    const { size, mtimeMs } = await stat(path);
    const saved: SavedFile = { version: 1, reference: render.reference, size, modified: mtimeMs };
    await store.set(key, toJson(saved));
  }
}

/** A path can be too long for a key, and have other characters. */
const keyOf = async (path: string): Promise<string> => `picture:${hexOf(await sha256(path))}`;
