/** The HTML of examples/cookbook/claims-desk.ts. The tag `html` escapes what it is given. */
import { html, raw } from "hono/html";
import type { Claim, Claimcategory } from "pod-partner";

export const photosOf = ({ evidenceUrls, claimlines }: Claim): readonly string[] => [
  ...(evidenceUrls ?? []),
  ...claimlines.flatMap((line) => line.evidenceUrls),
];

const rowOf = (claim: Claim) => html`
  <tr>
    <td>${claim.created.slice(0, 10)}</td>
    <td><code>${claim.orderReference}</code>${claim.comment && html`<p>${claim.comment}</p>`}</td>
    <td>${claim.claimlines.map(({ quantity, orderlineIndex, claimcategory }) => html`<p>${quantity} of line ${orderlineIndex}: ${claimcategory.name}</p>`)}</td>
    <td>${photosOf(claim).map((_, index) => html`<img src="/claims/${claim.reference}/photos/${index}" alt="photo ${index + 1}">`)}</td>
    <td><strong>${claim.status}</strong>${claim.decision?.comment && html`<p>${claim.decision.comment}</p>`}</td>
    <td>${claim.status === "pending" && html`<form method="post" action="/claims/${claim.reference}/retract"><button>Retract</button></form>`}</td>
  </tr>`;

const optionOf = ({ reference, name, evidenceRequired }: Claimcategory) =>
  html`<option value="${reference}">${name}${evidenceRequired ? " (with a photo)" : ""}</option>`;

const style = `
  body { font: 15px/1.5 system-ui; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; color: #222 }
  table { border-collapse: collapse; width: 100% } td { border-top: 1px solid #ddd; padding: .6rem; vertical-align: top }
  p { margin: 0 } code { font-size: 12px } td img { height: 72px; margin-right: 4px }
  td:first-child { white-space: nowrap } form.new { display: grid; grid-template-columns: 1fr 1fr; gap: .8rem; margin: 1rem 0 2rem }
  label { display: grid; color: #666 } input, select, button { font: inherit; padding: .4rem } form.new button { align-self: end }
  [role=alert] { background: #fde8e8; padding: .6rem; white-space: pre-wrap }`;

export function pageOf(claims: readonly Claim[], categories: readonly Claimcategory[], message?: string) {
  const byDate = claims.toSorted((one, other) => other.created.localeCompare(one.created));
  // A missing package is a claim for the whole shipment: `claims.createPackageMissing`.
  const choices = categories.filter(({ name }) => name !== "Package missing");
  return html`
  <!doctype html>
  <html lang="en">
    <head><meta charset="utf-8"><title>Claims</title><style>${raw(style)}</style></head>
    <body>
      <h1>Claims</h1>
      ${message && html`<p role="alert">${message}</p>`}
      <form class="new" method="post" action="/claims" enctype="multipart/form-data">
        <label>Order <input name="order" placeholder="Order_…" required></label>
        <label>Shipment <input name="shipment" placeholder="Shipment_…" required></label>
        <label>Line <input name="index" type="number" min="1" value="1"></label>
        <label>Quantity <input name="quantity" type="number" min="1" value="1"></label>
        <label>Issue <select name="category">${choices.map(optionOf)}</select></label>
        <label>Photos <input name="photos" type="file" accept="image/*" multiple></label>
        <label>Comment <input name="comment" maxlength="1000"></label>
        <button>File the claim</button>
      </form>
      <table>${byDate.map(rowOf)}</table>
    </body>
  </html>`;
}
