import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type ProxyOptions } from "vite";

// `npm run dev` shows the page with hot reload in front of a Forge that runs already.
const server = process.env.FORGE_URL ?? "http://127.0.0.1:8887";

// Forge lets in only pages of its own origin; in development the page's origin is Vite's.
const toForge: ProxyOptions = {
  target: server,
  changeOrigin: true,
  ws: true,
  configure: (proxy) => {
    proxy.on("proxyReq", (request) => request.setHeader("origin", server));
    proxy.on("proxyReqWs", (request) => request.setHeader("origin", server));
  },
};
const proxy = { "/api": toForge, "/docs": toForge, "/health": toForge, "/login": toForge };

/** The text's font is asked for together with the page: one that comes after the first paint is not used at all. */
const preloadFont: Plugin = {
  name: "preload-font",
  transformIndexHtml(_html, { bundle }) {
    const font = Object.keys(bundle ?? {}).find((name) => /geist-latin-wght-normal.*\.woff2$/.test(name));
    if (font === undefined) return [];
    const attrs = { rel: "preload", as: "font", type: "font/woff2", crossorigin: true, href: `/${font}` };
    return [{ tag: "link", attrs, injectTo: "head" }];
  },
};

// The build of this package for browsers needs a document, and the worker that colours patches has none.
const entities = "decode-named-character-reference";
const withoutDocument = { [entities]: fileURLToPath(import.meta.resolve(entities)) };

// Left alone, each icon and each small part that two screens share becomes a request of its own.
// What only some screens need and is large (Markdown, plots, patches) keeps a chunk of its own.
const groups = [
  { name: "libraries", test: /node_modules\/(react|react-dom|scheduler|@tanstack)\//, priority: 3 },
  { name: "icons", test: /node_modules\/lucide-react\//, priority: 2 },
  {
    name: "common",
    test: /\/src\/(api|kept|live|shell|ui|parts\/(agents|status))\b(?!\/(markdown|raw-log|entries|diff))/,
    minShareCount: 2,
    priority: 1,
  },
];

export default defineConfig({
  plugins: [react(), tailwindcss(), preloadFont],
  resolve: { alias: withoutDocument },
  server: { proxy },
  preview: { proxy },
  build: {
    target: "es2023",
    cssTarget: "chrome123",
    // Scripts and fonts in data: addresses would need a weaker Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  worker: { format: "es" },
});
