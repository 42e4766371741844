import { inspect } from "node:util";
import { ConfigurationError, PodPartner, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { secretKey, useService } from "../support/partner.ts";

const baseUrl = "https://partner.example/v2";

/** Creates a client without type checks, as a JavaScript program may, and returns the error. */
function refusal(options: unknown): ConfigurationError {
  try {
    new PodPartner(options as never);
  } catch (error) {
    if (ConfigurationError.isInstance(error)) return error;
    throw error;
  }
  return expect.fail("the client was made");
}

describe("the client's options", () => {
  const context = useService();
  const nothing = () => undefined;

  it.each<[what: string, options: object, path: string[]]>([
    ["a misspelled name", { timeOut: 5 }, ["timeOut"]],
    ["a part of `retry` on its own", { retries: 3 }, ["retries"]],
    ["a misspelled part of `retry`", { retry: { retrys: 3 } }, ["retry", "retrys"]],
    ["an unknown hook", { hooks: { onRequets: nothing } }, ["hooks", "onRequets"]],
    ["a hook that is not a function", { hooks: { onRequest: 5 } }, ["hooks", "onRequest"]],
    [
      "an unknown hook of a class",
      {
        hooks: new (class {
          onRequets = nothing;
        })(),
      },
      ["hooks", "onRequets"],
    ],
    ["null as the hooks", { hooks: null }, ["hooks"]],
    ["a clock without functions", { clock: {} }, ["clock"]],
    ["a clock without `after`", { clock: { now: () => 0 } }, ["clock"]],
    ["a logger without any of the levels", { logger: { log: nothing } }, ["logger"]],
    ["a logger with a level that is not a function", { logger: { warn: nothing, info: "info" } }, ["logger"]],
    ["null as `fetch`", { fetch: null }, ["fetch"]],
    ["null as the deadline", { deadline: null }, ["deadline"]],
    ["a ceiling that is not positive", { pacing: { perSecond: -1 } }, ["pacing", "perSecond"]],
    ["a burst below 1", { pacing: { perSecond: 5, burst: 0.5 } }, ["pacing", "burst"]],
    ["a burst without a ceiling", { pacing: { burst: 5 } }, ["pacing", "burst"]],
    ["a ceiling whose window is longer than a day", { pacing: { perSecond: 1e-5 } }, ["pacing", "perSecond"]],
    ["a misspelled part of `pacing`", { pacing: { perSeconds: 5 } }, ["pacing", "perSeconds"]],
    ["a string as `pacing`", { pacing: "on" }, ["pacing"]],
    ["a base URL of another version", { baseUrl: "https://partner.example/v1" }, ["baseUrl"]],
    ["a base URL that is not a string", { baseUrl: 5 }, ["baseUrl"]],
  ])("refuse %s", (_, options, path) => {
    expect(refusal({ baseUrl, secretKey, ...options }).issues.map((issue) => issue.path)).toEqual([path]);
  });

  it("throw a ConfigurationError, which a handler of RequestValidationError does not catch", () => {
    const error = refusal({ baseUrl, secretKey, retries: 3 });
    expect(error).not.toBeInstanceOf(RequestValidationError);
    expect(RequestValidationError.isInstance(error)).toBe(false);
    expect(error.toJSON()).toMatchObject({ name: "ConfigurationError", issues: [{ path: ["retries"] }] });
  });

  it.each(["", "k7", "elevenchars"])(
    "refuse a secret key of fewer than 12 characters (%j) without showing it",
    (short) => {
      const error = refusal({ baseUrl, secretKey: short });
      expect(error.issues).toEqual([
        { path: ["secretKey"], message: "expected at least 12 characters, as a key of the dashboard has" },
      ]);
      if (short !== "") expect(inspect(error)).not.toContain(short);
    },
  );

  it("accept a secret key of 12 characters", () => {
    expect(() => new PodPartner({ baseUrl, secretKey: "twelve-chars" })).not.toThrow();
  });

  it("are named in the error message when they are invalid", () => {
    expect(refusal({ baseUrl, secretKey, retries: 3 }).message).toBe(
      "The client's options are not valid.\n  retries: is an unknown option; did you mean `retry.retries`?",
    );
    expect(refusal(null).message).toBe("The client's options are not valid.\n  expected an object, not null");
  });

  it.each([
    [{ maxRetries: 3 }, "retry.retries"],
    [{ apiKey: "a" }, "secretKey"],
    [{ timeOut: 5 }, "timeout"],
    [{ baseURL: "a" }, "baseUrl"],
    [{ retry: { retrys: 3 } }, "retries"],
    [{ assumptions: { procesingTime: 3 } }, "processingTime"],
  ])("suggest the likely name for %j", (options, likely) => {
    const { issues } = refusal({ baseUrl, secretKey, ...options });
    expect(issues.map(({ message }) => message)).toEqual([`is an unknown option; did you mean \`${likely}\`?`]);
  });

  it("accept an instance of a class as hooks, with its other fields, and call them as its methods", async () => {
    class Watch {
      readonly events: object[] = [];
      onRequest(event: object) {
        this.events.push(event);
      }
    }
    const hooks = new Watch();
    context.service.respond({ body: { message: "valid" } });
    await context.connect({ hooks }).auth.validate();
    expect(hooks.events).toHaveLength(1);
  });

  it.each([
    ["a slash at its end", (url: string) => `${url}/`],
    ["spaces around it", (url: string) => ` ${url}\n`],
  ])("accept a base URL with %s", async (_, write) => {
    context.service.respond({ body: { message: "valid" } });
    await new PodPartner({ baseUrl: write(context.service.baseUrl), secretKey }).auth.validate();
    expect(context.service.requests.map(({ path }) => path)).toEqual(["/v2/auth/validate"]);
  });
});
