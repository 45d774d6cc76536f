import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The gateway serves the build below /console/, under a policy of content that allows nothing inline. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [react()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    reportCompressedSize: false,
  },
});
