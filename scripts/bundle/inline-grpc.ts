import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * OpenTelemetry's gRPC exporter loads gRPC by a `createRequire` of its own, which esbuild does not see: in the bundle
 * it would look for node_modules. As a plain `require` it is bundled, and still runs only when gRPC is asked for.
 */
export const inlineGrpc: Plugin = {
  name: "inline-grpc",
  setup(build) {
    build.onLoad({ filter: /\/otlp-grpc-exporter-base\/dist\/[^/]+\.mjs$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      return { contents: source.replaceAll('__require("@grpc/grpc-js")', 'require("@grpc/grpc-js")'), loader: "js" };
    });
  },
};
