import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { systemClock } from "../../util/clock.ts";
import { controlRoot } from "../base/messages.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { summaryOf } from "../recorder/recording.ts";
import type { Emulation } from "../state/emulation.ts";
import { createEventHub } from "./event-hub.ts";
import { overview } from "./overview.ts";
import { assets, pictureAt } from "./pictures.ts";

const types = {
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

type Name = keyof typeof types;

interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: (typeof types)[Name];
}

/** Whether the page has a file with this name. */
const isAsset = (name: string): name is Name => Object.hasOwn(types, name);

/**
 * Reads a file of the page from the package's `dist/page`. The package finds itself by its name, so that the emulator serves the
 * same files from its build, from its sources, and from a program that bundles it (decision 0019).
 */
async function readAsset(name: Name): Promise<Asset> {
  // A bundler that writes CommonJS leaves no URL of this module.
  const from: string = import.meta.url ?? join(process.cwd(), "any.js");
  const manifest = createRequire(from).resolve("pod-partner/package.json");
  const bytes = await readFile(join(dirname(manifest), "dist/page", name)).catch((cause: unknown) => {
    throw new Error("The page of the emulator is not built: run `npm run build`", { cause });
  });
  return { bytes: new Uint8Array(bytes), type: types[name] };
}

/** The page. Its script draws everything, so that the text of requests is never read as HTML. */
const document = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <meta name="color-scheme" content="light dark">
    <title>Emulator · pod-partner</title>
    <link rel="icon" href="${assets}icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${assets}app.css">
    <script src="${assets}app.js" defer></script>
  </head>
  <body>
    <div id="app"></div>
    <noscript>The page of the emulator needs JavaScript. The list of controls is at /_emulator.</noscript>
  </body>
</html>
`;

/** Only the page's own script, styles, pictures and connections; no other site may show the page in a frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The headers of every response to the page. */
const securityHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": policy,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

const found = (body: string | Uint8Array<ArrayBuffer>, type: string): Response =>
  new Response(body, { headers: { "Content-Type": type, "Cache-Control": "no-store" } });

/** Whether the sender is a browser that opens a page: it names HTML before JSON. */
function prefersHtml(request: Request): boolean {
  const accept = request.headers.get("Accept") ?? "";
  const html = accept.indexOf("text/html");
  const json = accept.indexOf("application/json");
  return html !== -1 && (json === -1 || html < json);
}

async function respond(emulation: Emulation, connect: () => Response, request: Request): Promise<Response | undefined> {
  const url = new URL(request.url);
  const { pathname } = url;
  const isPage = pathname === "/" || (pathname === controlRoot && prefersHtml(request));
  if (isPage) return found(document, "text/html; charset=utf-8");
  if (pathname === `${controlRoot}/events`) return connect();
  if (pathname === `${controlRoot}/state`)
    return found(JSON.stringify(overview(emulation, url.searchParams.get("organization"))), "application/json");
  const asset = pathname.startsWith(assets) ? pathname.slice(assets.length) : "";
  if (isAsset(asset)) {
    const { bytes, type } = await readAsset(asset);
    return found(bytes, type);
  }
  const picture = pictureAt(emulation.worlds, url);
  return picture === undefined ? undefined : found(picture.bytes, picture.type);
}

/** Responds to a GET of the page, of its files, of the state and of the event stream. Returns undefined for another request. */
async function respondWithPage(
  emulation: Emulation,
  connect: () => Response,
  request: Request,
): Promise<Response | undefined> {
  if (request.method !== "GET") return undefined;
  const response = await respond(emulation, connect, request);
  if (response === undefined) return undefined;
  for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value);
  return response;
}

/** The page of an emulator: `respond` responds to a GET of the page, and returns undefined for another request. */
export function createPage({ emulation, recorder }: { readonly emulation: Emulation; readonly recorder: Recorder }) {
  const events = createEventHub(systemClock, summaryOf);
  recorder.subscribe(events.requested);
  emulation.onChange(() => {
    if (emulation.requests.length === 0) events.cleared();
    events.changed();
  });
  return {
    respond: (request: Request): Promise<Response | undefined> => respondWithPage(emulation, events.connect, request),
    close: events.close,
  };
}
