import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { inlineGrpc } from "./inline-grpc.ts";

test("a bundle of OpenTelemetry requires no gRPC from node_modules", async () => {
  const resolveDir = join(import.meta.dirname, "../../packages/process");
  const { outputFiles } = await build({
    stdin: { contents: 'export { NodeSDK } from "@opentelemetry/sdk-node";', resolveDir },
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    plugins: [inlineGrpc],
  });
  const bundle = outputFiles[0]?.text ?? "";

  expect(bundle).toContain("GrpcExporterTransport");
  expect(bundle.match(/\w+\("@grpc\/grpc-js"\)/g)).toBeNull();
});
