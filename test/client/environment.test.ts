import { ConfigurationError, PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { partnerWith, secretKey } from "../support/partner.ts";

const baseUrl = "https://partner.example/v2";

/** The fault that a value of the environment has, as `path: message`; undefined when it is accepted. No message has the value of the key. */
function faultOf(variable: string, value: string): string | undefined {
  vi.stubEnv("POD_PARTNER_BASE_URL", baseUrl);
  vi.stubEnv("POD_PARTNER_SECRET_KEY", secretKey);
  vi.stubEnv(variable, value);
  try {
    new PodPartner({ transport: nodeTransport({ proxy: true }) });
    return undefined;
  } catch (error) {
    if (!ConfigurationError.isInstance(error)) throw error;
    expect(error.message).not.toContain(secretKey);
    expect(error.message).not.toContain("pa55word");
    return error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  } finally {
    vi.unstubAllEnvs();
  }
}

const valid: Readonly<Record<string, string>> = {
  POD_PARTNER_BASE_URL: baseUrl,
  POD_PARTNER_SECRET_KEY: secretKey,
  POD_PARTNER_LOG: "error",
  POD_PARTNER_LOG_FORMAT: "json",
  HTTP_PROXY: "http://user:pa55word@proxy.example:3128",
  HTTPS_PROXY: "https://proxy.example",
  ALL_PROXY: "http://proxy.example:3128/",
  http_proxy: "proxy.example:3128",
  https_proxy: "user:pa55word@proxy.example:3128",
  all_proxy: "proxy.example",
  NO_PROXY: "*, .a.example,b.example:8080 10.0.0.0/8,::1,[::1],*.c.example",
  no_proxy: "localhost",
};
const variables = Object.entries(valid);
const isProxy = (variable: string) => /proxy$/i.test(variable);
const isUrl = (variable: string) =>
  variable === "POD_PARTNER_BASE_URL" || (isProxy(variable) && !/^no/i.test(variable));

describe("a value of the environment", () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each(variables)("is accepted when it is valid: %s", (variable, value) => {
    expect(faultOf(variable, value)).toBeUndefined();
  });

  it.each(variables)("in quotes is refused by the name of its variable: %s", (variable, value) => {
    for (const quote of ['"', "'", "`"])
      for (const quoted of [`${quote}${value}${quote}`, ` ${quote}${value}${quote}\n`])
        expect(faultOf(variable, quoted)).toMatch(new RegExp(`^${variable}: (.*quotes|expected (text|debug))`));
  });

  it.each(variables)("that is empty counts as not set: %s", (variable) => {
    const option = { POD_PARTNER_BASE_URL: "baseUrl", POD_PARTNER_SECRET_KEY: "secretKey" }[variable];
    const fault = option === undefined ? undefined : `${option}: is required: pass it, or set ${variable}`;
    expect(faultOf(variable, "")).toBe(fault);
  });

  it.each(variables.filter(([variable]) => isUrl(variable)))(
    "with white space around it is taken: %s",
    (variable, value) => {
      for (const padded of [` ${value}`, `${value} `, `${value}\r\n`, `\t${value}`])
        expect(faultOf(variable, padded)).toBeUndefined();
    },
  );

  it.each(variables.filter(([variable]) => !isProxy(variable)))(
    "with a line end or a byte order mark in it is refused by the name of its variable: %s",
    (variable, value) => {
      for (const broken of [
        `${value.slice(0, 3)}\n${value.slice(3)}`,
        `${value.slice(0, 3)} ${value.slice(3)}`,
        `\uFEFF${value}`,
      ])
        expect(faultOf(variable, broken)).toMatch(new RegExp(`^${variable}: expected `));
    },
  );

  it.each(variables.filter(([variable]) => isUrl(variable)))("that is no URL of http is refused: %s", (variable) => {
    const ones = [
      "socks5://host.example:1080/v2",
      "ftp://host.example/v2",
      "http://host.example:99999/v2",
      "http://",
      "http://a b/v2",
    ];
    for (const value of ones) expect(faultOf(variable, value)).toMatch(new RegExp(`^${variable}: (expected|must)`));
  });

  it.each([
    ["partner.example/v2", /^POD_PARTNER_BASE_URL: expected a URL, for example https:/],
    ["localhost:4010/v2", /^POD_PARTNER_BASE_URL: must start with http: or https:/],
    ["https://partner.example", /^POD_PARTNER_BASE_URL: must end in \/v2/],
    ["https://user:word@partner.example/v2", /^POD_PARTNER_BASE_URL: must not contain credentials/],
  ])("names POD_PARTNER_BASE_URL and what is wrong with %j", (value, fault) => {
    expect(faultOf("POD_PARTNER_BASE_URL", value)).toMatch(fault);
  });

  it.each([
    ["short", /at least 12 characters/],
    [`${secretKey} `, /the key alone/],
    [`${secretKey}\n`, /the key alone/],
    [`${secretKey}é`, /the key alone/],
  ])("names POD_PARTNER_SECRET_KEY and what is wrong with %j", (value, fault) => {
    expect(faultOf("POD_PARTNER_SECRET_KEY", value)).toMatch(/^POD_PARTNER_SECRET_KEY: /);
    expect(faultOf("POD_PARTNER_SECRET_KEY", value)).toMatch(fault);
  });

  it("is not named when the option is given, and not read", () => {
    vi.stubEnv("POD_PARTNER_BASE_URL", "nonsense");
    vi.stubEnv("POD_PARTNER_SECRET_KEY", "'nonsense'");
    expect(() => partnerWith()).not.toThrow();
    expect(() => new PodPartner({ baseUrl: `"${baseUrl}"`, secretKey: `"${secretKey}"` })).toThrow(
      /baseUrl: has quotes.*\n.*secretKey: has quotes/,
    );
  });

  it("of a proxy is not read with `proxy: false`, nor ALL_PROXY when the others are set", () => {
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]) vi.stubEnv(name, "'socks5://host'");
    expect(() => nodeTransport({ proxy: false })).not.toThrow();
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY"]) vi.stubEnv(name, "proxy.example:3128");
    vi.stubEnv("NO_PROXY", "");
    expect(() => nodeTransport({ proxy: true })).not.toThrow();
  });
});
