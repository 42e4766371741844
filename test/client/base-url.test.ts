import * as fc from "fast-check";
import { ConfigurationError, PodPartner, PodPartnerError } from "pod-partner";
import { expect, it } from "vitest";
import { shown } from "../http/hostile/shown.ts";
import { rejection } from "../support/exchange.ts";

const password = "pa55w0rd";

/** Parts of a URL, in any order: `new URL` repairs many combinations that are not URLs. */
const baseUrls = fc
  .array(
    fc.constantFrom(
      ...[
        "http:",
        "https:",
        "HTTP:",
        "ftp:",
        "/",
        "//",
        "///",
        "\\",
        "\\\\",
        "user",
        ":",
        password,
        "@",
        "host",
        "a.b",
      ],
      ...[
        "/v2",
        "/v2/",
        "v2",
        "?",
        "#",
        " ",
        "\t",
        "\n",
        "%40",
        "%2f",
        "[::1]",
        ":80",
        "..",
        ";",
        "=",
        "\u00e9",
        "\u0000",
      ],
    ),
    { minLength: 1, maxLength: 9 },
  )
  .map((parts) => parts.join(""));

/** Most random texts are not URLs: these have the right beginning and end. */
const nearlyUrls = baseUrls.map((text) => `http:${text}@h/v2`);

it("a password in the base URL is refused or never sent, and no error shows it", async () => {
  const property = fc.asyncProperty(fc.oneof(baseUrls, nearlyUrls), async (baseUrl) => {
    const urls: string[] = [];
    const fetch = (request: Request) => {
      urls.push(request.url);
      return Promise.reject(new Error("refused"));
    };
    try {
      const partner = new PodPartner({ baseUrl, secretKey: "a-secret-key", fetch, retry: { retries: 0 } });
      const error = await rejection(partner.auth.validate());
      expect(error).toBeInstanceOf(PodPartnerError);
      // A part of the path is not a password.
      if (baseUrl.includes("@")) expect(shown(error)).not.toContain(password);
      for (const url of urls) expect(new URL(url)).toMatchObject({ username: "", password: "" });
    } catch (error) {
      if (!ConfigurationError.isInstance(error)) throw error;
      expect(shown(error)).not.toContain(password);
    }
  });
  await fc.assert(property, { numRuns: 1_000, seed: 20_261_102 });
});
