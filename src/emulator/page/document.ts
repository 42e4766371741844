import { assets } from "./overview/paths.ts";

/** The page. Its script draws everything, so that the text of requests is never read as HTML. */
export const document = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <meta name="color-scheme" content="light dark">
    <title>Emulator · pod-partner</title>
    <link rel="icon" href="${assets}icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${assets}app.css">
    <script src="${assets}app.js" defer></script>
  </head>
  <body>
    <div id="app"></div>
    <noscript>The page of the emulator needs JavaScript. The list of controls is at /_emulator.</noscript>
  </body>
</html>
`;
