/** The progress of an upload. */
export interface UploadProgress {
  /** Bytes of this attempt that were handed to the network. The service may have received fewer. */
  readonly sent: number;
  /** Total bytes; undefined for a stream. */
  readonly size: number | undefined;
}

/** The size of a picture in pixels, as its header states it. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The functions that observe an upload. */
export interface UploadWatch {
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  readonly onDownsize?: ((size: PictureSize) => void) | undefined;
}

/** Ends the call with a reason. */
export type EndCall = (reason: unknown) => void;
