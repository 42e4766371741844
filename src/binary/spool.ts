import { KeptChunks } from "./digest.ts";

/** Keeps the bytes of a stream until they were sent. */
export interface Spool {
  write(chunk: Uint8Array): void | Promise<void>;
  /** Ends the writing. The blob can be read until the spool is removed. */
  finish(): Promise<Blob>;
  /** Removes what the spool keeps. Call it in every case. */
  remove(): Promise<void>;
}

/** The temporary files of this process. They are removed when it exits. */
const files = new Set<string>();

const fileSystem = () => globalThis.process?.getBuiltinModule?.("node:fs");

function removeAll(): void {
  for (const path of files) {
    try {
      fileSystem()?.rmSync(path, { force: true });
    } catch {
      // An error while the process exits would hide its reason.
    }
  }
}

function remember(path: string): void {
  if (files.size === 0) process.once("exit", removeAll);
  files.add(path);
}

function forget(path: string): void {
  if (files.delete(path) && files.size === 0) process.off("exit", removeAll);
}

async function openFile({ openAsBlob, promises }: typeof import("node:fs")): Promise<Spool> {
  const [{ tmpdir }, { join }] = [process.getBuiltinModule("node:os"), process.getBuiltinModule("node:path")];
  const path = join(tmpdir(), `pod-partner-${crypto.randomUUID()}.upload`);
  remember(path);
  const file = await promises.open(path, "wx", 0o600).catch((error: unknown) => {
    forget(path);
    throw error;
  });
  return {
    write: (chunk) => file.writeFile(chunk),
    finish: async () => {
      await file.close();
      return openAsBlob(path);
    },
    remove: async () => {
      // It may be closed already.
      await file.close().catch(() => undefined);
      await promises.rm(path, { force: true }).catch(() => undefined);
      forget(path);
    },
  };
}

/** Opens a temporary file that only this user can read; memory where the runtime has no file system. */
export async function openSpool(): Promise<Spool> {
  const fs = fileSystem();
  if (typeof fs?.openAsBlob === "function") return openFile(fs);
  const kept = new KeptChunks();
  return {
    write: (chunk) => kept.add(chunk),
    finish: async () => kept.blob(),
    remove: async () => undefined,
  };
}
