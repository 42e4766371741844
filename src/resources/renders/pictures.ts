import * as z from "zod/mini";
import type { Download } from "../../binary/download.ts";
import { RequestValidationError } from "../../errors/validation.ts";
import type { RenderReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { check } from "../../schemas/check.ts";
import { open } from "../../schemas/shape.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { onAbort, unlessAborted } from "../../util/abort-signals.ts";
import { KeyedMutex } from "../../util/concurrency.ts";
import { hexOf, sha256 } from "../../util/digest.ts";
import { propertyOf, textOf, wordsOf } from "../../util/foreign.ts";
import { Latest } from "../../util/latest.ts";
import { fileModules } from "../../util/runtime.ts";
import type { BatchOptions, CompletedMockup, RenderedMockup, SavedMockup } from "./batch.schema.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import { getRenderMedia, type Render, type RenderInput } from "./renders.endpoints.ts";

/** The number of saved paths that one batch keeps in memory. */
const knownPaths = 10_000;

export type MockupValue = RenderedMockup | SavedMockup | CompletedMockup;

/** Resolves to the value of an outcome, when the caller receives it. */
export type TakeMockup = () => Promise<MockupValue>;

/** The render of a row that is completed. With `responses: "report"` its record can lack what the batch itself knows. */
export interface CompletedRow {
  readonly pair: RenderInput;
  readonly reference: RenderReference;
  readonly render: Render;
  readonly row: BatchRow;
}

async function openPicture({ send, requests }: BatchTools, { reference, row }: CompletedRow): Promise<Download> {
  const path = { renderReference: reference };
  return (await requests.of(send(getRenderMedia, { path }, row.reading()))).data;
}

/**
 * Opens the picture of a render. It keeps its place until the caller receives it, so that few are open. When that takes long, it is closed,
 * and opened again at that moment.
 */
export async function heldPicture(tools: BatchTools, completed: CompletedRow): Promise<TakeMockup> {
  const { clock, slots, patience } = tools;
  const { render, row } = completed;
  const giveBack = await slots.take(row.signal);
  const closes = clock.now() + patience;
  let media: Download;
  try {
    media = await openPicture(tools, completed);
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
    return { render, media: isOpen ? media : await openPicture(tools, completed) };
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
function nameOfPair({ pair, render }: CompletedRow): string {
  const extension = textOf(propertyOf(render, "media"), "extension") ?? "";
  const ending = /^[a-z0-9]{1,8}$/i.test(extension) ? `.${extension}` : "";
  return `${pair.compositionReference}-${pair.imageReference}${ending}`;
}

const refused = (option: "download" | "fileName", message: string): RequestValidationError =>
  new RequestValidationError({ issues: [{ path: [option], message }] });

/** The folder of a batch. It saves the picture of each render there, unless the storage knows that its file is there. */
export class PictureFolder {
  readonly #tools: BatchTools;
  readonly #path: string;
  readonly #fileName: BatchOptions["fileName"];
  readonly #files = new KeyedMutex();
  /** The renders of the saved paths, to find two with the same name. */
  readonly #written = new Latest<string>(knownPaths);

  constructor(tools: BatchTools, path: string, fileName: BatchOptions["fileName"]) {
    this.#tools = tools;
    this.#path = path;
    this.#fileName = fileName;
  }

  /** Creates the folder: a wrong one must be found before a render deducts tokens. */
  async open(): Promise<void> {
    try {
      const { access, constants, mkdir } = fileModules().fs;
      await mkdir(this.#path, { recursive: true });
      await access(this.#path, constants.W_OK);
    } catch (error) {
      throw refused("download", `cannot be used: ${wordsOf(error)}`);
    }
  }

  /** Resolves to the path of the saved picture. */
  async save(completed: CompletedRow): Promise<string> {
    const path = await this.#pathOf(completed);
    // Rows of the same pair save its picture once.
    await this.#files.take(
      path,
      () => this.#saveOnce(path, completed),
      (turn) => unlessAborted(turn, completed.row.signal),
    );
    return path;
  }

  async #pathOf(completed: CompletedRow): Promise<string> {
    const { isAbsolute, relative, resolve, sep } = fileModules().path;
    const { reference, render, row } = completed;
    const given: unknown = this.#fileName === undefined ? nameOfPair(completed) : this.#fileName(row.row, render);
    if (typeof given !== "string" || given === "")
      throw refused("fileName", "expected a function that returns a file name");
    const path = resolve(this.#path, given);
    const within = relative(resolve(this.#path), path);
    if (within === "" || within === ".." || within.startsWith(`..${sep}`) || isAbsolute(within))
      throw refused("fileName", `returned ${JSON.stringify(given)}, which is not a file within the folder`);
    const other = this.#written.get(path) ?? reference;
    if (other !== reference)
      throw refused("fileName", `returned ${JSON.stringify(given)} for two renders: ${other} and ${reference}`);
    this.#written.set(path, reference);
    return path;
  }

  async #saveOnce(path: string, completed: CompletedRow): Promise<void> {
    const { storage, slots } = this.#tools;
    const { reference, row } = completed;
    const { fs, path: names } = fileModules();
    const key = await keyOf(path);
    const checked = check(savedFile, fromJson(await storage.get(key)), []);
    const known = checked.ok ? (checked.value as SavedFile) : undefined;
    if (known?.reference === reference) {
      const file = await fs.stat(path).catch(() => undefined);
      if (file?.size === known.size && file.mtimeMs === known.modified) return;
    }
    await fs.mkdir(names.dirname(path), { recursive: true });
    const giveBack = await slots.take(row.signal);
    try {
      await (await openPicture(this.#tools, completed)).saveTo(path);
    } finally {
      giveBack();
    }
    const { size, mtimeMs } = await fs.stat(path);
    const saved: SavedFile = { version: 1, reference, size, modified: mtimeMs };
    await storage.set(key, toJson(saved));
  }
}

/** A path can be too long for a key, and have other characters. */
const keyOf = async (path: string): Promise<string> => `picture:${hexOf(await sha256(path))}`;
