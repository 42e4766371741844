import { controlRoot } from "../core/control-plane.ts";
import type { Emulation } from "../emulation/emulation.ts";
import { isAsset, readAsset } from "./assets.ts";
import { document } from "./document.ts";
import { overview } from "./overview/overview.ts";
import { assets } from "./overview/paths.ts";
import { pictureAt } from "./overview/pictures.ts";
import { securityHeaders } from "./security.ts";

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
export async function respondWithPage(
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
