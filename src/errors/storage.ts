import { PodPartnerError } from "./base.ts";

/**
 * The client's `storage` could not be reached, so it is not known whether the call would pay twice. Nothing was sent.
 */
export class StorageError extends PodPartnerError {
  static override readonly kind: string = "StorageError";
  readonly isRetryable = true;
  override readonly hint = "Repeat the call when the storage can be reached: the hook `onStorageBack` reports it.";

  constructor({ message }: { message: string }) {
    super(`${message} Nothing was sent.`);
  }
}
