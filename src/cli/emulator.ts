import { spawn } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { RunningEmulator, SavedWorld, StartEmulatorOptions } from "pod-partner/testing";
import { attempt } from "../util/foreign.ts";
import { version } from "../util/runtime.ts";
import { inOneLine } from "../util/visible.ts";
import { command, decimal, type FlagValues, oneOf, text, usage, wholeNumber } from "./arguments.ts";
import { endSignals } from "./program.ts";
import { counted, paint, print, printError } from "./terminal.ts";
import { checkSavable, loadWorld, readWorld, saveWorld, startFailure } from "./world-file.ts";

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
function banner({ baseUrl, secretKey }: RunningEmulator, page: string): readonly string[] {
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

/** What Node publishes when a server of this process receives a request. */
interface ServedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function colourOf(status: number): Parameters<typeof paint>[0] {
  if (status < 300) return "green";
  if (status < 400) return "cyan";
  return status < 500 ? "yellow" : "red";
}

const duration = (ms: number): string => (ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** Why a request ended as it did: the fault that applied, the code of its error object. Empty for a request without either. */
function reasonOf({ requests }: RunningEmulator, method: string, url: string): string {
  const entry = requests.findLast((one) => one.method === method && url.endsWith(one.path));
  if (entry?.fault !== undefined) return `fault ${entry.fault}`;
  const { code } = entry?.toJSON() ?? {};
  return typeof code === "string" ? code : "";
}

/**
 * One line: `18:04:05  POST    400     3 ms  /v2/orders  missing_image_reference`. The status is `lost` when the connection ended before the
 * whole response.
 */
function requestLine({ request, response }: ServedRequest, took: number, emulator: RunningEmulator): string {
  const { method = "", url = "" } = request;
  const status = response.writableFinished
    ? paint(colourOf(response.statusCode), String(response.statusCode).padEnd(4))
    : paint("red", "lost");
  const [, control] = /\/_emulator\/([\w.-]+)/.exec(url) ?? [];
  const [verb, path] = control === undefined ? [method, url] : ["control", control];
  const time = new Date().toTimeString().slice(0, 8);
  const reason = reasonOf(emulator, method, url);
  const words = `${paint("dim", time)}  ${paint("bold", verb.padEnd(7))} ${status} ${paint("dim", duration(took).padStart(8))}  ${inOneLine(path)}`;
  return reason === "" ? words : `${words}  ${paint("yellow", reason)}`;
}

/** Prints a line for each request of the API, when its response has ended, and for each control that changes something. */
function printRequests(emulator: RunningEmulator): void {
  subscribe("http.server.request.start", (message) => {
    const received = message as ServedRequest;
    const { method, url = "" } = received.request;
    const begun = performance.now();
    const isOfApi = /^(\/worlds\/[^/]+)?\/v2\//.test(url);
    // The page and its stream are the emulator's own traffic.
    if (!isOfApi && method !== "POST") return;
    received.response.once("close", () => print(requestLine(received, performance.now() - begun, emulator)));
  });
}

/**
 * Resolves at the first signal to end the program. A second signal has its default effect: it ends the process at once.
 *
 * @param onSignal What must be done before a second signal can end the process.
 */
export function stopSignal(onSignal = () => {}): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      onSignal();
      for (const signal of endSignals) process.off(signal, stop);
      resolve();
    };
    for (const signal of endSignals) process.on(signal, stop);
  });
}

/** The programs that open a URL in the default browser. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a URL in the default browser. Prints a line when that fails; the emulator keeps running. */
function openPage(url: string): void {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const failed = () => printError(`The browser could not be opened with ${command}. Open ${url} yourself.`);
  const opener = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  opener.once("error", failed);
  opener.once("exit", (code) => {
    if (code !== 0 && code !== null) failed();
  });
  opener.unref();
}

const defaults = { port: 4010, host: "127.0.0.1" };

/** The flags that describe an emulator. */
export const emulatorFlags = {
  port: wholeNumber(`The port. 0 is any free port. Default ${defaults.port}.`, { most: 65_535 }),
  host: text(`The address to listen on. Default ${defaults.host}: only this machine can connect.`, "address"),
  "public-url": text(
    "The origin that clients use, if it is not host and port, for example that of a tunnel. The base URL begins with it.",
    "url",
  ),
  seed: wholeNumber("The number that all references derive from: the same number gives the same references."),
  orders: wholeNumber("The number of orders that exist at the start. Default 0.", { most: 1_000_000 }),
  world: text("A JSON file with a saved world, which has its own orders and references.", "file"),
  speed: decimal("How fast the emulated time passes: 60 is an hour a minute, 0 stops it. Default 1."),
  "callback-url": text("The URL that the emulator calls when an order ships, for every store.", "url"),
  "repeated-identifier": oneOf(
    "The response to an order whose customIdentifier exists: return-first, the first order; refuse, a 409; create, a second order. Default return-first.",
    ["return-first", "refuse", "create"],
  ),
  assumptions: text(
    "A file that conform wrote: the emulator then does what the service did. Default: POD_PARTNER_ASSUMPTIONS.",
    "file",
  ),
  "allow-remote": { help: "Allow a public host in --host, --public-url, --callback-url and --world." },
};

type EmulatorValues = FlagValues<typeof emulatorFlags>;

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

function optionsOf(values: EmulatorValues): StartEmulatorOptions {
  const {
    port = defaults.port,
    host = defaults.host,
    seed,
    orders,
    "public-url": publicUrl,
    "callback-url": callbackUrl,
    "allow-remote": allowRemote = false,
    assumptions,
    "repeated-identifier": repeatedIdentifier,
  } = values;
  return {
    allowRemote,
    port,
    host,
    seed: { ...(seed === undefined ? {} : { number: seed }), ...(orders === undefined ? {} : { orders }) },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(assumptions === undefined ? {} : { assumptions }),
    ...(repeatedIdentifier === undefined ? {} : { repeatedIdentifier }),
  };
}

async function listen(options: StartEmulatorOptions): Promise<RunningEmulator> {
  const { startEmulator } = await import("pod-partner/testing");
  try {
    return await startEmulator(options);
  } catch (error) {
    throw startFailure(error);
  }
}

/** Starts the emulator in the state that the flags describe. */
export async function startEmulatorOf(values: EmulatorValues): Promise<RunningEmulator> {
  const { world: path, speed, seed, orders, "callback-url": callbackUrl } = values;
  if (path !== undefined && (seed ?? orders ?? callbackUrl) !== undefined) {
    throw usage(
      "--seed, --orders and --callback-url cannot be used with --world, which has its own references, orders and callback URLs.",
    );
  }
  const world = path === undefined ? undefined : await readWorld(path);
  const running = await listen(optionsOf(values));
  try {
    if (path !== undefined) loadWorld(running, world, path);
    if (speed === 0) running.clock.freeze();
    else if (speed !== undefined) running.clock.resume({ speed });
    return running;
  } catch (error) {
    await running.close();
    throw error;
  }
}

/** The page at the root of the server. */
export const pageOf = ({ baseUrl }: RunningEmulator): string => new URL("/", baseUrl).href;

/** Warns when programs of other machines can reach the emulator. */
function warn({ host = defaults.host, "public-url": publicUrl }: EmulatorValues): void {
  const isPublic = publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
  if (isLoopback(host) && !isPublic) return;
  const open = isPublic ? publicUrl : host;
  printError(
    `Warning: every program that reaches ${open} can use and control this emulator. Use it only in a network that you trust.`,
  );
}

/** What a run has made since `before`: `12 orders and 3 uploads`. Empty if it made nothing. */
function madeSince(before: SavedWorld, { organizations }: SavedWorld): string {
  type Organization = SavedWorld["organizations"][number];
  const made = (name: string, listOf: (organization: Organization) => readonly unknown[]): readonly string[] => {
    const sum = (all: SavedWorld["organizations"]) => all.reduce((total, one) => total + listOf(one).length, 0);
    const number = sum(organizations) - sum(before.organizations);
    return number > 0 ? [counted(number, name)] : [];
  };
  const things = [
    ...made("order", ({ orders }) => orders),
    ...made("upload", ({ images, evidence }) => [...images, ...evidence]),
    ...made("render", ({ renders }) => renders),
    ...made("claim", ({ claims }) => claims),
  ];
  const last = things.at(-1) ?? "";
  return things.length < 2 ? last : `${things.slice(0, -1).join(", ")} and ${last}`;
}

/** Says what ends with a run, or where it is saved. */
function conclude(before: SavedWorld, after: SavedWorld, path: string | undefined): void {
  const made = madeSince(before, after);
  if (path !== undefined) {
    saveWorld(after, path);
    print("", `Ended. The world is in ${path}: go on with --world ${path}.`);
  } else if (made !== "") {
    const verb = /^1 \w+$/.test(made) ? "is" : "are";
    // A terminal has printed ^C.
    print("", `Ended. ${made} of this run ${verb} gone; keep a world with --save world.json.`);
  }
}

/** `pod-partner emulator`: runs the emulator until a signal ends it. */
export const emulator = command({
  name: "emulator",
  summary: "Runs an emulator of the whole service on this machine.",
  flags: {
    ...emulatorFlags,
    save: text(
      "Saves the world in this file when the emulator ends. With --world of the same file it goes on.",
      "file",
    ),
    open: { help: "Open the page in the browser." },
    quiet: { help: "Print no line for each request." },
  },
  notes: [
    "Ctrl-C ends it, and a second Ctrl-C ends it at once. It keeps its state in memory: --save keeps it in a file.",
  ],
  run: async (values) => {
    const { save } = values;
    if (save !== undefined) checkSavable(save);
    let keep = () => {};
    const stopped = stopSignal(() => keep());
    const running = await startEmulatorOf(values);
    // The end of the open connections takes time, in which the process can be killed.
    if (save !== undefined) keep = () => attempt(() => saveWorld(running.world(), save));
    const before = running.world();
    const page = pageOf(running);
    print(...banner(running, page));
    warn(values);
    if (!values.quiet) printRequests(running);
    if (values.open) openPage(page);
    await stopped;
    await running.close();
    conclude(before, running.world(), save);
    // Timers of the emulator, such as a slow response's, must not delay the end.
    process.exit(0);
  },
});
