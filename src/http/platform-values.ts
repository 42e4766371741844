import { chunksOf, readAll, streamOf } from "../binary/streams.ts";
import { onAbort } from "../util/abort-signals.ts";
import { attempt, propertyOf, textOf } from "../util/foreign.ts";
import { isBlob, isWebStream } from "../util/kinds.ts";
import { builtIn } from "../util/runtime.ts";
import type { WireRequest } from "./transport.ts";

/*
 * `fetch` knows blobs, streams and signals by their classes. When a program has replaced a global class, as jsdom and polyfills do, `fetch`
 * knows either the platform's class or the other, depending on which came first, so both are tried.
 */

type WireContent = WireRequest["content"];

/**
 * Whether the platform's `fetch` sends the bytes of a body. It sends a value of a class that it does not know as text, which has a type of its
 * own; in Bun a part of a file's blob has that of the file.
 */
function isKnownBody(body: unknown): boolean {
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const type = attempt(() => new Request("http://localhost", init).headers.get("content-type") ?? "");
  return type === (textOf(body, "type") ?? "");
}

type Open = () => ReadableStream<Uint8Array>;

/** Makes an object of a class of blobs whose bytes come from `open`. A `fetch` that reads a blob by its methods takes it. */
const blobLike = (prototype: unknown, size: number, open: Open): Blob =>
  Object.create(Object(prototype), { size: { value: size }, type: { value: "" }, stream: { value: open } });

const emptyStream = (Stream?: typeof ReadableStream) => () =>
  streamOf(
    async () => undefined,
    () => undefined,
    Stream,
  );

const classOf = <Class>(value: unknown): Class | undefined => propertyOf(value, "constructor") as Class | undefined;

/** The content of a request as values that the platform's `fetch` knows. */
export async function knownContent(content: WireContent): Promise<WireContent> {
  if (typeof content !== "object" || ArrayBuffer.isView(content)) return content;
  const probe = isBlob(content)
    ? attempt(() => Object.defineProperty(content.slice(0, 0), "stream", { value: emptyStream() }))
    : emptyStream()();
  if (isKnownBody(probe)) return content;
  const source = () => (isBlob(content) ? content.stream() : content);
  const streams = [ReadableStream, classOf<typeof ReadableStream>(attempt(() => new Response("").body))];
  for (const Stream of streams) {
    const empty = emptyStream(Stream);
    const open = () => {
      const chunks = chunksOf(source());
      return streamOf(
        async () => chunks?.next(),
        () => chunks?.close(),
        Stream,
      );
    };
    if (!isBlob(content)) {
      if (attempt(() => isKnownBody(empty()))) return open();
      continue;
    }
    for (const Class of [Blob, builtIn("node:buffer")?.Blob]) {
      if (isKnownBody(blobLike(Class?.prototype, 0, empty))) return blobLike(Class?.prototype, content.size, open);
    }
  }
  return readAll(source());
}

/** Whether the content is not in memory: `fetch` reads it piece by piece. */
export const isStreamed = (content: WireContent): content is Blob | ReadableStream<Uint8Array> =>
  isBlob(content) || isWebStream(content) || (typeof content === "object" && !ArrayBuffer.isView(content));

let tried: { readonly Controller: unknown; readonly Class: unknown; readonly isKnown: boolean } | undefined;

/** Whether the platform's `fetch` knows the signals of a class. */
const isKnownSignal = (signal: unknown): boolean =>
  attempt(() => new Request("http://localhost", { signal: signal as AbortSignal })) !== undefined;

/** Whether the platform's `fetch` knows the signals that the global `AbortController` makes now. Tried once for each. */
function knowsGlobalSignals(): boolean {
  const { AbortController: Controller, Request: Class } = globalThis;
  if (tried?.Controller !== Controller || tried.Class !== Class)
    tried = { Controller, Class, isKnown: isKnownSignal(new Controller().signal) };
  return tried.isKnown;
}

/**
 * A signal that the platform's `fetch` knows, for one of `abortController`: itself, if `fetch` knows those of the global `AbortController`.
 * Undefined if there is none: then the end of the call closes the body of the response.
 */
export function knownSignal(signal: AbortSignal): AbortSignal | undefined {
  if (knowsGlobalSignals()) return signal;
  const controller = attempt(() => builtIn("node:util")?.transferableAbortController());
  if (controller === undefined || !isKnownSignal(controller.signal)) return undefined;
  onAbort(signal, (reason) => controller.abort(reason));
  return controller.signal;
}
