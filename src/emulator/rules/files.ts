import type { ClaimReference, EvidenceReference } from "../../references/references.ts";
import { known, Problem } from "../base/problem.ts";
import type { World } from "../state/world.ts";
import type { StoredClaim, StoredEvidence, StoredImage } from "../work/records.ts";

/** Adds the image of a content. The same content has the same reference (specification 2.7). */
export function addImage(world: World, content: string): StoredImage {
  const reference = world.make.named("Image", `${world.organization.name}/${content}`);
  return world.images.get(reference) ?? world.images.add({ reference });
}

const day = 86_400_000;

/** Months for which evidence is kept after its claim is closed (specification 2.8: roughly four months). */
const retainedMonths = 4;

/** The time at which a claim was decided or retracted; null while it is pending. */
export const closedAt = (claim: StoredClaim): number | null => claim.retracted ?? claim.decision?.decided ?? null;

/** Whether a claim's evidence has been purged. */
function isPurged(world: World, claim: StoredClaim): boolean {
  const closed = closedAt(claim);
  if (closed === null) return false;
  const until = new Date(closed);
  until.setUTCMonth(until.getUTCMonth() + retainedMonths);
  return world.now() >= until.getTime();
}

/** Returns evidence that is not deleted. Unused evidence is deleted after a day, used evidence when its claim's is purged. */
export function evidenceOf(world: World, reference: EvidenceReference): StoredEvidence | undefined {
  const evidence = world.evidence.get(reference);
  if (evidence === undefined) return undefined;
  const claim = world.claims.get(evidence.claim);
  const isExpired = claim === undefined ? world.now() >= evidence.created + day : isPurged(world, claim);
  if (isExpired) world.evidence.delete(reference);
  return isExpired ? undefined : evidence;
}

/** Adds a picture as evidence. */
export function addEvidence(world: World, bytes: Uint8Array): StoredEvidence {
  const content = Buffer.from(bytes).toString("base64");
  const isSame = world.settings.assumptions.identicalEvidence === "same";
  const first = isSame ? [...world.evidence.values()].find((evidence) => evidence.content === content) : undefined;
  return first ?? world.evidence.add({ reference: world.make.next("Evidence"), content, created: world.now() });
}

/** Deletes all expired evidence. */
export function purgeEvidence(world: World): void {
  for (const { reference } of world.evidence.values()) evidenceOf(world, reference);
}

/** Checks that evidence exists and belongs to no claim. */
export function checkEvidence(world: World, references: readonly EvidenceReference[]): void {
  for (const reference of references) {
    const evidence = known(evidenceOf(world, reference), `Evidence ${reference}`);
    if (evidence.claim === undefined) continue;
    throw new Problem("unknown_input_error", `Evidence ${reference} belongs to another claim`);
  }
}

/** Marks evidence as used by a claim. */
export function useEvidence(world: World, references: readonly EvidenceReference[], claim: ClaimReference): void {
  for (const reference of references) {
    const evidence = world.evidence.get(reference);
    if (evidence !== undefined) evidence.claim = claim;
  }
}

/** The URLs of evidence. Purged evidence has none. */
export const evidenceUrls = (world: World, claim: StoredClaim, references: readonly EvidenceReference[]): string[] =>
  isPurged(world, claim) ? [] : references.map((reference) => `${world.settings.baseUrl}/evidence/${reference}`);
