// Makes one call of each kind at each base URL, and prints the results.
import { Readable } from "node:stream";
import { ConnectionError, OutcomeUnknownError, PodPartner } from "pod-partner";

const { baseUrls, secretKey, timeout } = JSON.parse(process.env.INPUT);
const png = Uint8Array.from(
  { length: 600 },
  (_, at) => [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a][at] ?? at % 256,
);

const sent = (error) => (error instanceof ConnectionError ? (error.sent ? ", sent" : ", never sent") : "");

async function tell(call) {
  try {
    await call;
    return "value";
  } catch (error) {
    const cause = error instanceof OutcomeUnknownError ? ` by ${error.cause.name}${sent(error.cause)}` : "";
    return `${error.name}${sent(error)}${cause}`;
  }
}

// The names of errors, and whether the service may have seen the request.
const results = {};
for (const [name, baseUrl] of Object.entries(baseUrls)) {
  const partner = new PodPartner({ baseUrl, secretKey, retry: { retries: 0 }, timeout });
  results[name] = {
    GET: await tell(partner.organization.get()),
    POST: await tell(partner.request("POST", "/things", { body: { some: "thing" } })),
    upload: await tell(partner.images.upload(Readable.from([png]))),
  };
}
console.log(JSON.stringify(results));
