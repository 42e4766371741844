import { controlRoot } from "../../core/control-plane.ts";

/** The path that the page's script and style sheet begin with. */
export const assets = `${controlRoot}/page/`;

const pictures = `${controlRoot}/pictures`;

/** The path of a render's thumbnail. */
export const renderPath = (reference: string): string => `${pictures}/renders/${reference}`;

/** The path of a photo of a claim. */
export const evidencePath = (reference: string): string => `${pictures}/evidence/${reference}`;
