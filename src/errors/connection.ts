import { PodPartnerError } from "./base.ts";

/** No answer came: the connection failed. `sent` tells whether the service may have received the request. */
export class ConnectionError extends PodPartnerError {
  static override readonly kind: string = "ConnectionError";
  readonly isRetryable: boolean = true;
  /** False when the request certainly never left; true when the service may have carried it out. */
  readonly sent: boolean;

  constructor({ endpoint, reason, sent, cause }: { endpoint: string; reason: string; sent: boolean; cause?: unknown }) {
    super(`No answer from ${endpoint}: ${reason}.${sent ? "" : " The request was never sent."}`, { cause });
    this.sent = sent;
  }

  override toJSON() {
    return { ...super.toJSON(), sent: this.sent };
  }
}

/** One attempt, its body included, took longer than `timeout`; or so did opening the source of an upload, of which nothing was sent. */
export class RequestTimeoutError extends PodPartnerError {
  static override readonly kind: string = "RequestTimeoutError";
  readonly isRetryable: boolean = true;

  constructor({ endpoint, timeout, opening }: { endpoint: string; timeout: number; opening?: boolean }) {
    const within = `within ${timeout} ms (option \`timeout\`)`;
    super(
      opening
        ? `The source of the upload to ${endpoint} gave no first bytes ${within}. Nothing was sent.`
        : `${endpoint} did not answer in full ${within}.`,
    );
  }
}

/** The call as a whole, queueing and waits included, took longer than its `deadline`, or certainly would have. */
export class DeadlineError extends PodPartnerError {
  static override readonly kind: string = "DeadlineError";
  readonly isRetryable: boolean = true;

  constructor({ message, cause }: { message: string; cause?: unknown }) {
    super(message, { cause });
  }
}
