// Turbopack reads no file above its root, and the packages lie there.
export default { turbopack: { root: "/" } };
