/** The numbers of docs/renders.md: designs on products, some of which do not go with the scene. */
import { PodPartner } from "pod-partner";
import { sqliteStorage } from "pod-partner/sqlite";
import { sampleImage } from "pod-partner/testing";

const storage = sqliteStorage("partner.db");
const partner = new PodPartner({ storage });
const [scene] = await partner.scenes.list();
if (scene === undefined) throw new Error("There is no scene");
const { reference: sceneReference } = scene;
const [perspective] = (await partner.scenes.get(sceneReference)).perspectives;
if (perspective === undefined) throw new Error("The scene has no perspective");
const products = await partner.catalog.products.list().toArray({ limit: 7 });
const designs = ["a", "b", "c", "d", "e"].map((name) => sampleImage(name)); // or paths
const rows = designs.flatMap((image) => products.map(({ reference }) => ({ image, reference })));
let cost = "";
const outcomes = partner.renders.batch(rows, {
  map: ({ image, reference: productReference }) => ({
    sceneReference,
    productReference,
    perspectiveReference: perspective.reference,
    image,
  }),
  download: "mockups",
  onProgress: ({ done, tokensSpent, requests }) => {
    cost = `${done} pictures, ${tokensSpent} tokens, ${requests} requests`;
  },
});
for await (const outcome of outcomes) {
  // Not every product goes with the scene: `not-found`.
  if (!outcome.ok && outcome.reason !== "not-found") console.error(outcome.reason, outcome.error);
}
console.log(cost);
await storage.close();
