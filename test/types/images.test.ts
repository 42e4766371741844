import { createReadStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { PassThrough, Readable } from "node:stream";
import type { ReadableStream as NodeWebStream } from "node:stream/web";
import type { Download, ImageReference, ImageSource, PodPartner, UploadedImage } from "pod-partner";
import { describe, expectTypeOf, it } from "vitest";
import type { PictureSize } from "../../src/binary/picture.ts";
import type { UploadProgress } from "../../src/binary/upload.ts";
import type { ImageUploadOptions, UploadOptions } from "../../src/resources/upload.ts";

/** For the compiler: none of it is run. */
function neverRun({ images, evidence }: PodPartner) {
  // @ts-expect-error a number is neither a path nor bytes.
  images.upload(123);
  // @ts-expect-error undefined is not an image.
  images.upload(undefined);
  // @ts-expect-error the caller must await a promise.
  evidence.upload(fetch("https://partner.example/design.png").then((response) => response.arrayBuffer()));
  evidence.upload(createReadStream("photo.jpg"));
  // @ts-expect-error the service downsizes images, not evidence (specification 2.7).
  evidence.upload("photo.jpg", { onDownsize: () => undefined });
  // @ts-expect-error a call sends one request or none.
  images.uploadOnce("design.png").withResponse();
  images.uploadOnce(createReadStream("design.png"), {
    onProgress: ({ sent }) => sent,
    signal: new AbortController().signal,
  });
}

describe("an upload", () => {
  it("reports bytes of a size that may be unknown, and sizes in pixels", () => {
    expectTypeOf<UploadProgress>().toEqualTypeOf<{ readonly sent: number; readonly size: number | undefined }>();
    expectTypeOf<PictureSize>().toEqualTypeOf<{ readonly width: number; readonly height: number }>();
    expectTypeOf<Parameters<PodPartner["images"]["upload"]>[1]>().toEqualTypeOf<ImageUploadOptions | undefined>();
    expectTypeOf<Parameters<PodPartner["evidence"]["upload"]>[1]>().toEqualTypeOf<UploadOptions | undefined>();
  });

  it("gives the image's reference, and once also whether it was sent", () => {
    expectTypeOf<Awaited<ReturnType<PodPartner["images"]["uploadOnce"]>>>().toEqualTypeOf<UploadedImage>();
    expectTypeOf<UploadedImage["reference"]>().toEqualTypeOf<ImageReference>();
    expectTypeOf<UploadedImage["uploaded"]>().toEqualTypeOf<boolean>();
  });
});

describe("the source of an upload", () => {
  it("can be a path, bytes, a blob or a file", () => {
    expectTypeOf<string>().toExtend<ImageSource>();
    expectTypeOf<Uint8Array>().toExtend<ImageSource>();
    expectTypeOf<Buffer>().toExtend<ImageSource>();
    expectTypeOf<Blob>().toExtend<ImageSource>();
    expectTypeOf<File>().toExtend<ImageSource>();
  });

  it("can be a web stream of bytes", () => {
    expectTypeOf<NonNullable<Response["body"]>>().toExtend<ImageSource>();
    expectTypeOf<ReturnType<Blob["stream"]>>().toExtend<ImageSource>();
    expectTypeOf<ReturnType<Download["stream"]>>().toExtend<ImageSource>();
    expectTypeOf<NodeWebStream<Uint8Array>>().toExtend<ImageSource>();
    expectTypeOf<ReturnType<FileHandle["readableWebStream"]>>().toExtend<ImageSource>();
    expectTypeOf<ReadableStream<ArrayBuffer>>().toExtend<ImageSource>();
  });

  it("can be any Node stream", () => {
    expectTypeOf<ReturnType<typeof createReadStream>>().toExtend<ImageSource>();
    expectTypeOf<IncomingMessage>().toExtend<ImageSource>();
    expectTypeOf<Readable>().toExtend<ImageSource>();
    expectTypeOf<PassThrough>().toExtend<ImageSource>();
    expectTypeOf<NodeJS.ReadableStream>().toExtend<ImageSource>();
  });

  it("can be any iterable that yields bytes", () => {
    expectTypeOf<AsyncGenerator<Uint8Array>>().toExtend<ImageSource>();
    expectTypeOf<AsyncIterable<ArrayBuffer>>().toExtend<ImageSource>();
  });

  it("can be an ArrayBuffer, a URL or a Response", () => {
    expectTypeOf<ArrayBuffer>().toExtend<ImageSource>();
    expectTypeOf<URL>().toExtend<ImageSource>();
    expectTypeOf<Response>().toExtend<ImageSource>();
  });

  it("can be neither something without bytes nor a promise", () => {
    expectTypeOf(neverRun).parameter(0).toEqualTypeOf<PodPartner>();
    expectTypeOf<number>().not.toExtend<ImageSource>();
    expectTypeOf<object>().not.toExtend<ImageSource>();
    expectTypeOf<Promise<Uint8Array>>().not.toExtend<ImageSource>();
    expectTypeOf<Promise<Response>>().not.toExtend<ImageSource>();
    expectTypeOf<ReadableStream<string>>().not.toExtend<ImageSource>();
    expectTypeOf<AsyncIterable<string>>().not.toExtend<ImageSource>();
    expectTypeOf<Iterable<Uint8Array>>().not.toExtend<ImageSource>();
    expectTypeOf<NodeJS.WritableStream>().not.toExtend<ImageSource>();
  });
});
