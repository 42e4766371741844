/** Mails a customer when parcels of an order are on their way, with their tracking links. Callbacks start it; sweeps find lost ones. */
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { createTransport } from "nodemailer";
import { PodPartner, shipmentsIn } from "pod-partner";
import { createOrderFollower, createOrderUpdatedReceiver, type OrderChanged } from "pod-partner/callbacks";
import { sqliteStorage } from "pod-partner/sqlite";

const { CALLBACK_TOKEN: token, SMTP_URL: smtp, MAIL_FROM: from, PORT: port = "3000" } = process.env;
if (!token || !smtp || !from) throw new Error("CALLBACK_TOKEN, SMTP_URL or MAIL_FROM is not set");
const partner = new PodPartner(); // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY
const mails = createTransport(smtp);
const db = new DatabaseSync("mails.db");
db.exec("CREATE TABLE IF NOT EXISTS sent (id TEXT PRIMARY KEY)");

async function mailCustomer({ order, changes, signal }: OrderChanged): Promise<void> {
  const { reference, orderlines, dropshipAddressReference } = order;
  if (!changes.some(({ kind }) => kind === "shipped") || !dropshipAddressReference) return;
  const shipped = orderlines.reduce((sum, line) => sum + line.shippedQuantity, 0);
  const ordered = orderlines.reduce((sum, line) => sum + line.quantity - line.canceledQuantity, 0);
  const id = `${reference}-${shipped}`; // the same change may come twice: a mail is for the order and its total
  if (db.prepare("SELECT id FROM sent WHERE id = ?").get(id)) return;

  const { email, firstname } = await partner.addresses.get(dropshipAddressReference, { signal });
  // The specification does not show that an order names its shipments: without one, the mail has no links (docs/tracking.md).
  const found = shipmentsIn(order).map((shipment) => partner.shipments.get(shipment, { signal }));
  const links = (await Promise.all(found)).flatMap(({ trackingUrl }) => trackingUrl ?? []);
  const text = [`Hello ${firstname ?? ""},`, `${shipped} of ${ordered} items are on their way.`, ...links].join("\n\n");
  await mails.sendMail({
    from,
    to: email ?? "",
    subject: "Your order is on its way",
    text,
    messageId: `<${id}@shop.example>`,
  });
  db.prepare("INSERT INTO sent (id) VALUES (?)").run(id); // after a kill just before this line, the mail is sent twice
  console.log("mailed", id);
}

// In the process that places orders: `follower.follow(reference)` after each `ensure`, with the same storage. Sweeps look at these orders.
const storage = sqliteStorage("partner.db");
const follower = createOrderFollower({ partner, storage, interval: 3_600_000, onChange: mailCustomer });
const receiver = createOrderUpdatedReceiver({ follower, token });
const server = createServer(receiver.node).listen(Number(port), () =>
  console.log("port", Object(server.address()).port),
);

process.once("SIGTERM", async () => {
  await receiver.close();
  await follower.close();
  server.close();
});
