import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { runMain } from "./main.ts";

const wrong: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [["emulatr"], /"emulatr" is an unknown command\. Did you mean emulator\?/],
  [
    ["serve"],
    /"serve" is an unknown command\. The commands are emulator, dev, init, verify, simulate, doctor, conform\./,
  ],
  [["--port"], /--port is an unknown option\./],
  [["emulator", "--prot", "4010"], /--prot is an unknown option\. Did you mean --port\?/],
  [["emulator", "-p", "4010"], /-p is an unknown option\./],
  [["emulator", "--port"], /--port needs a value: --port <number>\./],
  [["emulator", "--port", "--quiet"], /--port needs a value: --port <number>\./],
  [["emulator", "--port", "-1"], /--port expects a whole number from 0 to 65535, not "-1"\./],
  [["emulator", "--port", "http"], /--port expects a whole number from 0 to 65535, not "http"\./],
  [["emulator", "--port", "65536"], /--port expects a whole number from 0 to 65535, not "65536"\./],
  [["emulator", "--port=1e3"], /--port expects a whole number from 0 to 65535, not "1e3"\./],
  [["emulator", "--seed=-1"], /--seed expects a whole number, at least 0, not "-1"\./],
  [["emulator", "--orders", "2.5"], /--orders expects a whole number from 0 to 1000000, not "2\.5"\./],
  [["emulator", "--quiet=yes"], /--quiet takes no value\./],
  [["emulator", "--host="], /--host expects a text that is not empty, not ""\./],
  [["emulator", "--public-url", "https://a.example/v2"], /--public-url: expected only an origin, for example https:/],
  [["emulator", "--port", "0", "--callback-url", "shop"], /--callback-url: .*shop/],
  [["emulator", "--speed", "9".repeat(400)], /--speed expects a number, at least 0, not "9+"\./],
  [["emulator", "--speed", "-1"], /--speed expects a number, at least 0, not "-1"\./],
  [["emulator", "--speed", "-.5"], /--speed expects a number, at least 0, not "-\.5"\./],
  [["emulator", "--speed"], /--speed needs a value: --speed <number>\./],
  [["emulator", "--speed", "fast"], /--speed expects a number, at least 0, not "fast"\./],
  [
    ["emulator", "--world", "a.json", "--orders", "3"],
    /--seed, --orders and --callback-url cannot be used with --world/,
  ],
  [["emulator", "world.json"], /There is an argument too many: only options are expected\./],
  [["emulator", "--toString"], /--toString is an unknown option\./],
  [["emulator", "--repeated-identifier", "twice"], /expects return-first, refuse or create, not "twice"\./],
  [["dev"], /A command is missing: pod-partner dev -- npm start\./],
  [["dev", "npm", "start"], /There is an argument too many/],
  [["verify", "--only", "order"], /A command is missing: pod-partner verify -- npm start\./],
  [["verify", "--only", "order-last", "--", "true"], /--only order-last is no row\. Did you mean order-late\?/],
  [["verify", "--ready", "http://127.0.0.1:1", "--", "true"], /--ready and --drive belong together\./],
  [["verify", "--callback-url", "http://127.0.0.1:1", "--", "true"], /--callback-url needs --ready and --drive\./],
  [["verify", "--ready", "3000", "--drive", "true", "--", "true"], /--ready expects a URL, .+, not "3000"\./],
  [
    ["verify", "--ready", "http://127.0.0.1:1", "--drive", "true", "--sweep", "true", "--", "true"],
    /--sweep needs --callback-url\./,
  ],
  [["doctor", "--timeout", "0"], /--timeout expects a whole number from 1 to 600000, not "0"\./],
];

describe("wrong arguments", () => {
  it.each(wrong)("%j: one line says what to do, and the exit code is 2", async (args, message) => {
    const { code, output, errors } = await runMain(args);
    expect({ code, output }).toEqual({ code: 2, output: "" });
    expect(errors).toMatch(/^pod-partner: .+ \(pod-partner (\w+ )?--help\)\n$/);
    expect(errors).toMatch(message);
  });

  it.each(["--secret-key", "--secret-key=", "--key", "--api-key"])(
    "doctor %s: the message names the environment variable, and does not print the key",
    async (flag) => {
      const key = "live-key-5up3r53cr3t-4d5f6";
      const { code, output, errors } = await runMain(["doctor", ...(flag.endsWith("=") ? [flag + key] : [flag, key])]);
      expect({ code, output }).toEqual({ code: 2, output: "" });
      expect(errors).toContain("POD_PARTNER_SECRET_KEY");
      expect(errors).not.toContain(key);
    },
  );
});

describe("help and version", () => {
  it.each([[[]], [["--help"]], [["-h"]]])("%j lists the commands", async (args) => {
    const { code, output, errors } = await runMain(args);
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    expect(output).toMatch(/^ {2}emulator {2}Runs an emulator/m);
    expect(output).toMatch(/^ {2}doctor {4}Checks base URL/m);
  });

  it.each([
    ["emulator", ["--port <number>", "--host <address>", "--public-url <url>", "--seed <number>", "--orders <number>"]],
    [
      "emulator",
      ["--world <file>", "--speed <number>", "--callback-url <url>", "--open", "--quiet", "--help", "--version"],
    ],
    ["conform", ["--test-environment", "--yes", "--env-file <file>", "--compare <file>", "--tokens <number>"]],
    ["doctor", ["--base-url <url>", "--timeout <ms>", "--env-file <file>", "--json", "--help", "--version"]],
    ["verify", ["--env-file <file>"]],
  ])("%s --help lists the options %j, within 80 columns", async (command, options) => {
    const { code, output } = await runMain([command, "--help"]);
    expect(code).toBe(0);
    const listed = output.split("\n").map((line) => line.slice(2).split("  ")[0]);
    expect(listed).toEqual(expect.arrayContaining(options));
    expect(Math.max(...output.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it.each([[["--version"]], [["-v"]], [["emulator", "--version"]]])("%j prints the package's version", async (args) => {
    expect(await runMain(args)).toEqual({ code: 0, output: `${manifest.version}\n`, errors: "" });
  });
});
