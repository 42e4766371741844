import type { RunningEmulator } from "pod-partner/testing";
import { version } from "../../util/runtime.ts";
import { paint } from "../terminal.ts";

const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(12))}${paint("cyan", value)}`;

const section = (title: string, lines: readonly string[]): readonly string[] => [
  "",
  paint("bold", title),
  ...lines.map((line) => `  ${line}`),
];

/** The lines that set environment variables: of a POSIX shell, or of PowerShell. */
const setVariables = (variables: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(variables).map(([name, value]) =>
    process.platform === "win32" ? `$env:${name} = "${value}"` : `export ${name}=${value}`,
  );

/** A command of two lines, which the shell reads as one. PowerShell has another sign at the end of the line. */
const twoLines = (first: string, second: string): readonly string[] => [
  `${first} ${process.platform === "win32" ? "`" : "\\"}`,
  `  ${second}`,
];

/** What a user needs to use the emulator: addresses, the key, and lines to paste. */
export function banner({ baseUrl, secretKey }: RunningEmulator, page: string): readonly string[] {
  return [
    `${paint("bold", "pod-partner emulator")} ${paint("dim", version)}`,
    "",
    field("Base URL", baseUrl),
    field("Secret key", secretKey),
    field("Page", page),
    field("Quickstart", new URL("_emulator/quickstart", page).href),
    ...section("Environment", setVariables({ POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey })),
    ...section("curl", twoLines(`curl ${baseUrl}/stores`, `-H "X-Service-Secret-Key: ${secretKey}"`)),
    ...section("SDK", [
      "const partner = new PodPartner({",
      `  baseUrl: ${JSON.stringify(baseUrl)},`,
      `  secretKey: ${JSON.stringify(secretKey)},`,
      "});",
    ]),
    "",
    paint("dim", "Ctrl-C ends it. Check it with: npx pod-partner doctor"),
    "",
  ];
}
