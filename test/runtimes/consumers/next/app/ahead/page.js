import { PodPartner } from "pod-partner";

/** Depends on nothing in the request: Next.js tries to build it in advance. */
export default async function Page() {
  const partner = new PodPartner();
  const { message } = await partner.auth.validate();
  const { limit } = await partner.rendertokens.get();
  return `[${limit > 0 && message !== ""}]`;
}
