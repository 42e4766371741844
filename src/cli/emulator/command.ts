import { isIP } from "node:net";
import type { RunningEmulator, StartEmulatorOptions } from "pod-partner/testing";
import { command } from "../command.ts";
import { usage } from "../failure.ts";
import { decimal, text, type Values, wholeNumber } from "../flags.ts";
import { print, printError } from "../terminal.ts";
import { banner } from "./banner.ts";
import { openPage } from "./open-page.ts";
import { printRequests } from "./requests.ts";
import { startFailure } from "./start-failure.ts";
import { stopSignal } from "./stop-signal.ts";
import { loadWorld, readWorld } from "./world-file.ts";

const defaults = { port: 4010, host: "127.0.0.1" };

const flags = {
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
  "allow-remote": { help: "Allow a public host in --host, --public-url, --callback-url and --world." },
  open: { help: "Open the page in the browser." },
  quiet: { help: "Print no line for each request." },
};

type EmulatorValues = Values<typeof flags>;

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
  } = values;
  return {
    allowRemote,
    port,
    host,
    seed: { ...(seed === undefined ? {} : { number: seed }), ...(orders === undefined ? {} : { orders }) },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
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
async function start(values: EmulatorValues): Promise<RunningEmulator> {
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
const pageOf = ({ baseUrl }: RunningEmulator): string => new URL("/", baseUrl).href;

/** Warns when programs of other machines can reach the emulator. */
function warn({ host = defaults.host, "public-url": publicUrl }: EmulatorValues): void {
  const isPublic = publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
  if (isLoopback(host) && !isPublic) return;
  const open = isPublic ? publicUrl : host;
  printError(
    `Warning: every program that reaches ${open} can use and control this emulator. Use it only in a network that you trust.`,
  );
}

/** `pod-partner emulator`: runs the emulator until a signal ends it. */
export const emulator = command({
  name: "emulator",
  summary: "Runs an emulator of the whole service on this machine.",
  flags,
  notes: ["Ctrl-C ends it, and a second Ctrl-C ends it at once. It keeps its state in memory."],
  run: async (values) => {
    const stopped = stopSignal();
    const running = await start(values);
    const page = pageOf(running);
    print(...banner(running, page));
    warn(values);
    if (!values.quiet) printRequests();
    if (values.open) openPage(page);
    await stopped;
    await running.close();
    // Timers of the emulator, such as a slow response's, must not delay the end.
    process.exit(0);
  },
});
