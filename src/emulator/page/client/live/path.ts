/** The path of the world that the page belongs to: empty, or `/worlds/<name>` for an isolated world. */
const world = /^\/worlds\/[^/]+/.exec(location.pathname)?.[0] ?? "";

/** A path of the emulator in the page's world. */
export const inWorld = (path: string): string => world + path;
