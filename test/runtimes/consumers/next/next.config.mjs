export default {
  // Turbopack reads no file above its root, and the packages are there.
  turbopack: { root: "/" },
  // Next.js 14 otherwise starts one process more, which loads webpack anew, for each part of the build.
  experimental: { webpackBuildWorker: false },
};
