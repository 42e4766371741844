/** The path that the controls and the page's own resources begin with. */
export const root = "/_emulator";

/** The path that the page's script and style sheet begin with. */
export const assets = `${root}/page/`;

const pictures = `${root}/pictures`;

/** The path of a render's thumbnail. */
export const renderPath = (reference: string): string => `${pictures}/renders/${reference}`;

/** The path of a photo of a claim. */
export const evidencePath = (reference: string): string => `${pictures}/evidence/${reference}`;
