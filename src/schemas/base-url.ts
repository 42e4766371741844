import * as z from "zod/mini";

const missing = "is required: pass it, or set POD_PARTNER_BASE_URL";

/**
 * Whether a URL has credentials as the platform parses it, also in the forms `http:user:pw@h`, `https:///user:pw@h` and
 * `http:\\user:pw@h`. An `@` without credentials is a mistake and also counts.
 */
function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== "" || password !== "" || /^[^/\\]*[/\\]*[^/\\]*@/.test(text);
}

/** A base URL that ends in `/v2`. The result has no slash at its end and no surrounding blanks. */
export const baseUrl = () =>
  z.pipe(
    z.string({ error: ({ input }) => (input === undefined ? missing : "expected a URL as a string") }).check(
      z.refine((text) => URL.canParse(text), { error: "expected a URL, for example https://host/v2", abort: true }),
      z.refine((text) => /^https?:$/.test(new URL(text).protocol), { error: "must start with http: or https:" }),
      z.refine((text) => /\/v2\/?$/.test(new URL(text).pathname), { error: "must end in /v2, the major version" }),
      // An empty query or fragment stays in the URL, in front of the path of each call.
      z.refine((text) => !/[?#]/.test(text) && !hasCredentials(text), {
        error: "must not contain credentials, a query or a fragment",
      }),
    ),
    z.transform((text: string) => new URL(text).href.replace(/\/$/, "")),
  );
