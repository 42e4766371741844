import * as z from "zod/mini";

const missing = "is required: give it, or set POD_PARTNER_BASE_URL";

/**
 * Whether the platform finds credentials in a URL. The text alone does not tell: `http:user:pw@h`, `https:///user:pw@h` and
 * `http:\\user:pw@h` have some, too. An `@` with nothing before it has none, and is a slip.
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
      // A `?` or `#` with nothing behind it stays in the address, and would come before the path of every call.
      z.refine((text) => !/[?#]/.test(text) && !hasCredentials(text), {
        error: "must have no credentials, query or fragment",
      }),
    ),
    z.transform((text: string) => new URL(text).href.replace(/\/$/, "")),
  );
