import * as z from "zod/mini";
import type { Download } from "../../binary/download.ts";
import { makeFolder } from "../../binary/save.ts";
import { RequestValidationError } from "../../errors/validation.ts";
import type { RenderReference } from "../../references/references.ts";
import { matches } from "../../schemas/check.ts";
import { open, reference } from "../../schemas/shape.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { onAbort, unlessAborted } from "../../util/abort-signals.ts";
import { KeyedMutex } from "../../util/concurrency.ts";
import { hexOf, sha256 } from "../../util/digest.ts";
import { propertyOf, textOf, wordsOf } from "../../util/foreign.ts";
import { Latest } from "../../util/latest.ts";
import { fileModules } from "../../util/runtime.ts";
import type { BatchOptions, CompletedMockup, RenderedMockup, SavedMockup } from "./batch.schema.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import { renderFailure } from "./render-waiting.ts";
import { getRenderMedia, type Render, type RenderInput } from "./renders.endpoints.ts";

/** Maximum number of saved paths that one batch keeps in memory. */
const knownPaths = 10_000;
/** The number of pictures that are open at a time if the caller is slow. */
const slotsForSlowCaller = 4;

export type MockupValue = RenderedMockup | SavedMockup | CompletedMockup;

/** Called when the caller receives an outcome. Resolves to its value. */
export type TakeMockup = () => Promise<MockupValue>;

/** A row whose render is completed. The record of the render may lack its reference. */
export interface CompletedRow {
  readonly pair: RenderInput;
  readonly reference: RenderReference;
  readonly render: Render;
  readonly row: BatchRow;
}

async function openPicture({ send }: BatchTools, { reference, row }: CompletedRow): Promise<Download> {
  const path = { renderReference: reference };
  const { data } = await send(getRenderMedia, { path }, row.reading()).catch((error: unknown) => {
    throw renderFailure(error, reference);
  });
  return data;
}

/**
 * Opens the picture of a render. It holds a slot until the caller receives the picture, so that few are open. If that takes too long, the
 * picture is closed, and opened again when the caller receives it.
 */
export async function openPictureInSlot(tools: BatchTools, completed: CompletedRow): Promise<TakeMockup> {
  const { slots, patience } = tools;
  const { clock } = tools.context;
  const { render, row } = completed;
  const releaseSlot = await slots.take(row.signal);
  const closes = clock.now() + patience;
  const media = await openPicture(tools, completed).catch((error: unknown) => {
    releaseSlot();
    throw error;
  });
  let isOpen = true;
  const stopTimer = clock.after(Math.max(0, closes - clock.now()), () => {
    isOpen = false;
    void media.cancel();
    // The caller is slow, so pictures that are opened early would be requested twice.
    slots.limit(slotsForSlowCaller);
  });
  const release = () => {
    stopTimer();
    releaseSlot();
  };
  const stopListening = onAbort(row.signal, release);
  return async () => {
    stopListening();
    release();
    return { render, media: isOpen ? media : await openPicture(tools, completed) };
  };
}

/** The stored record of a saved picture. A file with another size or time was changed since, or is on another machine. */
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

/** The error for an invalid name of a picture. The render exists, but its picture is not saved. */
const refusedName = (message: string): RequestValidationError =>
  new RequestValidationError({ issues: [{ path: ["fileName"], message }], value: "name for the picture" });

/** The folder in which a batch saves its pictures. */
export interface PictureFolder {
  readonly path: string;
  readonly fileName: BatchOptions["fileName"];
  /** The render of each of the latest paths: two renders must not have the same path. */
  readonly references: Latest<string>;
  /** Rows with the same path save one at a time: the first one downloads the picture, and the others find its file. */
  readonly turns: KeyedMutex;
}

/** Creates the folder. An unusable folder is reported before a render deducts tokens. */
export async function openFolder(path: string, fileName: BatchOptions["fileName"]): Promise<PictureFolder> {
  try {
    const { access, constants } = fileModules().fs;
    await makeFolder(path);
    await access(path, constants.W_OK);
  } catch (error) {
    const issue = { path: ["download"], message: `cannot be used: ${wordsOf(error)}` };
    throw new RequestValidationError({ issues: [issue] });
  }
  return { path, fileName, references: new Latest(knownPaths), turns: new KeyedMutex() };
}

/** The file name. Default: the pair, and the extension if it is safe in a file name. */
function fileNameOf({ fileName }: PictureFolder, { pair, render, row }: CompletedRow): string {
  if (fileName === undefined) {
    const extension = textOf(propertyOf(render, "media"), "extension") ?? "";
    const ending = /^[a-z0-9]{1,8}$/i.test(extension) ? `.${extension}` : "";
    return `${pair.compositionReference}-${pair.imageReference}${ending}`;
  }
  const name: unknown = fileName(row.given, render);
  if (typeof name === "string" && name !== "") return name;
  throw refusedName("expected a function that returns a file name");
}

function within(folder: string, name: string): string {
  const { isAbsolute, relative, resolve, sep } = fileModules().path;
  const path = resolve(folder, name);
  const inside = relative(resolve(folder), path);
  if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw refusedName(`returned ${JSON.stringify(name)}, which is not a file within the folder`);
  return path;
}

/** Saves a picture unless its file exists unchanged. Resolves to its path. */
export async function savePicture(tools: BatchTools, folder: PictureFolder, completed: CompletedRow): Promise<string> {
  const { reference, row } = completed;
  const name = fileNameOf(folder, completed);
  const path = within(folder.path, name);
  const other = folder.references.get(path);
  if (other !== undefined && other !== reference)
    throw refusedName(`returned ${JSON.stringify(name)} for two renders: ${other} and ${reference}`);
  folder.references.set(path, reference);
  await folder.turns.take(
    path,
    () => saveOnce(tools, path, completed),
    (turn) => unlessAborted(turn, row.signal),
  );
  return path;
}

async function saveOnce(tools: BatchTools, path: string, completed: CompletedRow): Promise<void> {
  const { storage, slots } = tools;
  const { reference, row } = completed;
  const { fs } = fileModules();
  // A path can be too long for a key, or have characters that a key cannot have.
  const key = `picture:${hexOf(await sha256(path))}`;
  const known = fromJson(await storage.get(key));
  if (matches(savedFile, known)) {
    const file = await fs.stat(path).catch(() => undefined);
    if (known.reference === reference && file?.size === known.size && file.mtimeMs === known.modified) return;
  }
  const releaseSlot = await slots.take(row.signal);
  try {
    await (await openPicture(tools, completed)).saveTo(path);
  } finally {
    releaseSlot();
  }
  const { size, mtimeMs } = await fs.stat(path);
  await storage.set(key, toJson({ version: 1, reference, size, modified: mtimeMs } satisfies SavedFile));
}
