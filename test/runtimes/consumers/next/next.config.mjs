// Turbopack reads no file above its root, and the packages are there.
export default { turbopack: { root: "/" } };
