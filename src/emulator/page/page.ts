import { systemClock } from "../../util/clock.ts";
import { readPackageFile } from "../../util/package-file.ts";
import { controlRoot } from "../base/messages.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { summaryOf } from "../recorder/recording.ts";
import type { Emulation } from "../state/emulation.ts";
import { createEventHub } from "./event-hub.ts";
import { Marks } from "./marks.ts";
import { overview } from "./overview.ts";
import { assets, pictureAt } from "./pictures.ts";

const types = {
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

type Name = keyof typeof types;

const htmlType = "text/html; charset=utf-8";

/** Whether the page has a file with this name. */
const isAsset = (name: string): name is Name => Object.hasOwn(types, name);

/** Reads a file of the page, which the build makes. */
function readAsset(name: Name): Uint8Array<ArrayBuffer> {
  try {
    return readPackageFile(`dist/page/${name}`);
  } catch (cause) {
    throw new Error("The page of the emulator is not built: run `npm run build`", { cause });
  }
}

/** The page. Its script draws everything, so that the text of requests is never read as HTML. */
const document = pageWith(
  `<script src="${assets}app.js" defer></script>`,
  `<div id="app"></div>
    <noscript>The page of the emulator needs JavaScript. The list of controls is at /_emulator.</noscript>`,
);

/** The page of a world that does not exist, with links to those that do. The names of worlds are letters, digits, `-` and `_`. */
export function unknownWorldPage(worlds: readonly string[]): Response {
  const links = ["", ...worlds.map((name) => `worlds/${name}/`)].map(
    (path) => `<li><a href="/${path}">/${path}</a></li>`,
  );
  const page = pageWith(
    "",
    `<main class="unknown"><h1>There is no such world here</h1>
    <p>Its name is wrong, it was removed, or the emulator was started again since. These are here:</p>
    <ul>${links.join("")}</ul></main>`,
  );
  return new Response(page, { status: 404, headers: { "Content-Type": htmlType, ...securityHeaders } });
}

function pageWith(script: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <meta name="color-scheme" content="light dark">
    <title>Emulator · pod-partner</title>
    <link rel="icon" href="${assets}icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${assets}app.css">
    ${script}
  </head>
  <body>
    ${body}
  </body>
</html>
`;
}

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
export function prefersHtml(request: Request): boolean {
  const accept = request.headers.get("Accept") ?? "";
  const html = accept.indexOf("text/html");
  const json = accept.indexOf("application/json");
  return html !== -1 && (json === -1 || html < json);
}

/** What the page shows: the emulation, what happened in it beside the requests, and the stream of its events. */
interface PageSource {
  readonly emulation: Emulation;
  readonly marks: Marks;
  readonly connect: () => Response;
}

function respond({ emulation, marks, connect }: PageSource, request: Request): Response | undefined {
  const url = new URL(request.url);
  const { pathname } = url;
  const isPage = pathname === "/" || (pathname === controlRoot && prefersHtml(request));
  if (isPage) return found(document, htmlType);
  if (pathname === `${controlRoot}/events`) return connect();
  if (pathname === `${controlRoot}/environment`) return found(environmentOf(emulation), "text/plain; charset=utf-8");
  if (pathname === `${controlRoot}/state`) {
    const state = overview(emulation, marks.list, url.searchParams.get("organization"));
    return found(JSON.stringify(state), "application/json");
  }
  const asset = pathname.startsWith(assets) ? pathname.slice(assets.length) : "";
  if (isAsset(asset)) return found(readAsset(asset), types[asset]);
  const picture = pictureAt(emulation.worlds, url);
  return picture === undefined ? undefined : found(picture.bytes, picture.type);
}

/** Responds to a GET of the page, of its files, of the state and of the event stream. Returns undefined for another request. */
function respondWithPage(source: PageSource, request: Request): Response | undefined {
  if (request.method !== "GET") return undefined;
  const response = respond(source, request);
  if (response === undefined) return undefined;
  for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value);
  return response;
}

/** What a shell or a `.env` file needs of a client of the emulator. */
const environmentOf = ({ settings, worlds: [{ keys }] }: Emulation): string =>
  `POD_PARTNER_BASE_URL=${settings.baseUrl}\nPOD_PARTNER_SECRET_KEY=${[...keys.values()].find(({ revoked }) => !revoked)?.secretKey}\n`;

interface PageParts {
  readonly emulation: Emulation;
  readonly recorder: Recorder;
  /** The name of a control that changes something. */
  readonly nameOf: (control: object) => string | undefined;
}

/** The page of an emulator: `respond` responds to a GET of the page, and returns undefined for another request. */
export function createPage({ emulation, recorder, nameOf }: PageParts) {
  const events = createEventHub(systemClock, summaryOf);
  const marks = new Marks(nameOf);
  recorder.subscribe(events.requested);
  emulation.onChange((change) => {
    if (change === "cleared") {
      marks.clear();
      events.cleared();
    } else if (change !== undefined) marks.note(change, emulation.clock.now(), recorder.latest);
    events.changed();
  });
  const source = { emulation, marks, connect: events.connect };
  return {
    respond: (request: Request): Response | undefined => respondWithPage(source, request),
    close: events.close,
  };
}
