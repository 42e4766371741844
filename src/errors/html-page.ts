import type { ErrorResponse } from "./response.ts";

const isHtml = ({ headers, body }: ErrorResponse): boolean =>
  typeof body === "string" &&
  (/^text\/html\b/i.test(headers["content-type"] ?? "") || /^\s*<(!doctype )?html\b/i.test(body));

/** Says what to check when an HTML page arrives in place of JSON; undefined for any other response. */
export const htmlHint = (response: ErrorResponse): string | undefined =>
  isHtml(response)
    ? "The response is an HTML page, so it comes from a proxy, a gateway or another website. Check `baseUrl` and the proxy."
    : undefined;
