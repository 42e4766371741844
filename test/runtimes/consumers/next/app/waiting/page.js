import { PodPartner } from "pod-partner";

/** Waits for a render. Next.js 14 caches the responses that such a page fetches, unless an option forbids it. */
export default async function Page({ searchParams }) {
  const { baseUrl, secretKey, reference } = await searchParams;
  const partner = new PodPartner({ baseUrl, secretKey });
  const wait = partner.renders.wait(reference, { interval: 20, deadline: 5_000 });
  const outcome = await wait.then(
    ({ status }) => status,
    ({ name }) => name,
  );
  return `[${outcome}]`;
}
