import { Download } from "../../binary/download.ts";
import { type BodyWatcher, watched } from "../../binary/streams.ts";
import type { ResponseHead } from "../../util/response-head.ts";
import type { Call } from "../call.ts";
import { downloadStream } from "../download-body.ts";
import { Attempt } from "../exchange.ts";
import type { EncodedRequest } from "../request.ts";
import type { Arrival } from "../response.ts";
import type { Body } from "../transport.ts";

/** What the cache of files needs of a call. */
export interface FileSteps {
  readonly call: Call;
  readonly request: EncodedRequest;
  /** Sends a request through the attempts of the call. */
  readonly send: (request: EncodedRequest) => Promise<Arrival>;
  /** Makes a download of the same file whose bytes a recording gets while the caller reads them. */
  readonly record: (response: ResponseHead, download: Download, recording: BodyWatcher) => Download;
  /** Makes a download of a stored body, with the timeout, the deadline and the signal of the call. */
  readonly open: (response: ResponseHead, body: Body) => Download;
}

/** The steps of a call for a file. */
export function fileSteps(call: Call, request: EncodedRequest, send: FileSteps["send"]): FileSteps {
  const { core, scope, name: endpoint, timeout } = call;
  const of = { endpoint, clock: core.clock };
  return {
    call,
    request,
    send,
    record: ({ headers }, download, recording) => new Download(headers, watched(download.stream(), recording), of),
    open: (response, body) => {
      const attempt = new Attempt({ scope, request, endpoint, timeout, binary: false }, () => undefined);
      attempt.open(body);
      const onUnread = (error: string) => core.observe("onUnreadDownload", { endpoint, error });
      const complete = (error: unknown) => call.complete(error);
      const options = { scope, endpoint, redact: core.redact, complete, onUnread };
      return new Download(response.headers, downloadStream(attempt, body, response, options), of, true);
    },
  };
}
