/** A page for a shop's support: claims with photos and decisions, a form for a new claim, and a button that retracts one. */
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { csrf } from "hono/csrf";
import { HTTPException } from "hono/http-exception";
import { ApiError, type Claim, PodPartner, parseReference, RequestValidationError } from "pod-partner";
import { pageOf, photosOf } from "./claims-desk-page.ts";

const partner = new PodPartner(); // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY
const app = new Hono();
app.use(csrf(), bodyLimit({ maxSize: 50_000_000 })); // there is no login: put it behind the one of your staff

async function show(context: Context, message?: string) {
  const claims: Claim[] = [];
  const listed = partner.claims.list(); // the open claims, and those closed in the last 14 days
  for await (const outcome of partner.claims.getMany(listed, { map: ({ reference }) => reference, priority: "high" })) {
    if (!outcome.ok) throw outcome.error;
    claims.push(outcome.value);
  }
  return context.html(pageOf(claims, await partner.claims.categories.list(), message), message ? 422 : 200);
}
app.get("/", (context) => show(context));
app.post("/claims", async (context) => {
  const { photos, order, shipment, comment, ...line } = await context.req.parseBody({ all: true });
  const orderReference = parseReference("Order", `${order}`);
  const shipmentReference = parseReference("Shipment", `${shipment}`);
  const claimcategoryReference = parseReference("Claimcategory", `${line.category}`);
  const files = [photos].flat().flatMap((file) => (file instanceof File && file.size > 0 ? file : []));
  const evidence = await Promise.all(files.map((file) => partner.evidence.upload(file)));
  const evidenceReferences = evidence.map(({ reference }) => reference);
  const [orderlineIndex, quantity] = [Number(line.index), Number(line.quantity)];
  const claimlines = [{ orderlineIndex, quantity, claimcategoryReference, evidenceReferences }];
  await partner.claims.createItemIssues({ orderReference, shipmentReference, comment: `${comment}`, claimlines });
  return context.redirect("/");
});
app.post("/claims/:claim/retract", async (context) => {
  await partner.claims.retract(parseReference("Claim", context.req.param("claim")));
  return context.redirect("/");
});
app.get("/claims/:claim/photos/:index", async (context) => {
  const claim = await partner.claims.get(parseReference("Claim", context.req.param("claim")));
  const url = photosOf(claim)[Number(context.req.param("index"))];
  if (url === undefined) return context.notFound();
  const photo = await partner.evidence.download(url, { signal: context.req.raw.signal }); // it needs the secret key
  return context.body(photo.stream(), 200, { "Content-Type": photo.contentType ?? "image/jpeg" });
});
app.onError((error, context) => {
  const isRefused = error instanceof ApiError || error instanceof RequestValidationError;
  if (isRefused && context.req.method === "POST") return show(context, error.message);
  if (error instanceof HTTPException) return error.getResponse();
  console.error(error);
  return context.text("This failed. Wait a minute, and look at the list before you file the claim again.", 503);
});

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, port }, (address) => console.log("port", address.port));
process.once("SIGTERM", () => server.close());
