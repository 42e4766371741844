/**
 * Prints what Node loads for the import of the package, for a client, and for its first call. With `TRANSPORT=node` the client uses
 * `nodeTransport`.
 */
import { registerHooks } from "node:module";

const files = [];
registerHooks({
  load: (url, context, next) => {
    files.push(url);
    return next(url, context);
  },
});

/** What has been loaded since the previous step: files, and modules of Node. */
let known = process.moduleLoadList.length;
function step() {
  const builtIn = process.moduleLoadList.slice(known).map((name) => name.replace(/^\w+ /, ""));
  known = process.moduleLoadList.length;
  return { files: files.splice(0), builtIn };
}

const { PodPartner } = await import("pod-partner");
const imported = step();
const transport = process.env.TRANSPORT === "node" ? (await import("pod-partner/node")).nodeTransport() : undefined;
const partner = new PodPartner({ transport });
await partner.auth.validate();
console.log(JSON.stringify({ imported, called: step() }));
