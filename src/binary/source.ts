/** Where the bytes of an upload come from: a file's path, bytes, a blob, or a web or Node stream. */
export type ImageSource = string | Uint8Array | Blob | ReadableStream<Uint8Array> | NodeJS.ReadableStream;
