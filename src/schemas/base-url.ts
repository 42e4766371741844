import * as z from "zod/mini";

const missing = "is required: give it, or set POD_PARTNER_BASE_URL";

/**
 * Whether a URL has credentials as the platform parses it: `http:user:pw@h`, `https:///user:pw@h` and `http:\\user:pw@h` do, too.
 * An `@` without credentials before it is a mistake and counts as well.
 */
function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== "" || password !== "" || /^[^/\\]*[/\\]*[^/\\]*@/.test(text);
}

/** A base URL, ending in `/v2`. It is given on without a slash at its end, and without the blanks that a file of settings leaves. */
export const baseUrl = () =>
  z.pipe(
    z.string({ error: ({ input }) => (input === undefined ? missing : "expected a URL, as a text") }).check(
      z.refine((text) => URL.canParse(text), { error: "expected a URL", abort: true }),
      z.refine((text) => /^https?:$/.test(new URL(text).protocol), { error: "expected http or https" }),
      z.refine((text) => /\/v2\/?$/.test(new URL(text).pathname), { error: "must end in /v2, the major version" }),
      // An empty query or fragment stays in the URL, in front of the path of each call.
      z.refine((text) => !/[?#]/.test(text) && !hasCredentials(text), {
        error: "must have no credentials, query or fragment",
      }),
    ),
    z.transform((text: string) => new URL(text).href.replace(/\/$/, "")),
  );
