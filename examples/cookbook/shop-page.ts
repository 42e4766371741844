/** A shop's page with mockups. Each is made and paid for once, at the first start after its row is in shop.json. Visitors cost nothing. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { html } from "hono/html";
import { PodPartner, parseReference, type Render } from "pod-partner";
import { sqliteStorage } from "pod-partner/sqlite";
import { thumbHashToDataURL } from "thumbhash";

/** What the shop sells, in shop.json: a list of references, with the title and the path of the design. */
type Row = { readonly [Field in "title" | "image" | "scene" | "product" | "perspective"]: string };
const rows: readonly Row[] = JSON.parse(readFileSync("shop.json", "utf8"));
const mockups = new Map<Row | undefined, { readonly render: Render; readonly path: string }>();

// The storage remembers uploads and renders, and the folder has the pictures: another start pays for none again.
const storage = sqliteStorage("shop.db");
const partner = new PodPartner({ storage }); // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY

async function makeMockups(): Promise<void> {
  const map = ({ scene, product, perspective, image }: Row) => ({
    sceneReference: parseReference("Scene", scene),
    productReference: parseReference("Product", product),
    perspectiveReference: parseReference("Perspective", perspective),
    image,
  });
  for await (const outcome of partner.renders.batch(rows, { map, download: "mockups", tokenBudget: 200 })) {
    if (outcome.ok) mockups.set(outcome.input, outcome.value);
    else console.error(outcome.input.title, outcome.reason, outcome.error);
  }
  console.log(mockups.size, "of", rows.length, "mockups");
}

const app = new Hono();
app.get("/", (context) => {
  const figures = rows.map((row, index) => {
    const { reference, thumbhash } = mockups.get(row)?.render ?? {};
    const placeholder = thumbhash ? thumbHashToDataURL(Buffer.from(thumbhash, "base64")) : "";
    const place = `background: #eee center / cover url(${placeholder}); aspect-ratio: 0.75`;
    const picture = reference && html`<img src="/mockups/${index}/${reference}" alt="" loading="lazy">`;
    return html`<figure><div style="${place}">${picture}</div><figcaption>${row.title}</figcaption></figure>`;
  });
  const style =
    "body { font: 16px system-ui; display: flex; flex-wrap: wrap } figure { width: 240px } img { width: 100%; height: 100%; object-fit: cover; display: block }";
  return context.html(html`<!doctype html><html lang="en"><title>Shop</title><style>${style}</style>${figures}</html>`);
});
app.get("/mockups/:index/:reference", async (context) => {
  const mockup = mockups.get(rows[Number(context.req.param("index"))]);
  if (mockup === undefined) return context.notFound();
  const type = mockup.render.media?.mimeType ?? "image/png";
  const headers = { "Content-Type": type, "Cache-Control": "public, max-age=31536000" };
  return context.body(await readFile(mockup.path), 200, headers);
});

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, port }, (address) => console.log("port", address.port));
process.once("SIGTERM", () => server.close());
await makeMockups();
