import { build, type Metafile } from "esbuild";
import { inlineGrpc } from "./inline-grpc.ts";

export interface Bundle {
  /** Relative to the repository's root. */
  readonly file: string;
  readonly bytes: number;
  /** What is inside, as esbuild tells it. */
  readonly metafile: Metafile;
}

/** CommonJS libraries call `require` for Node's own modules, which an ES module does not have. */
const REQUIRE = 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/**
 * Writes `dist/{service}.js`, one file with all that `services/{service}/src/main.ts` imports.
 *
 * @throws {Error} if a module is missing or cannot be bundled; esbuild has said on stderr which
 */
export async function bundleService(root: string, service: string): Promise<Bundle> {
  const file = `dist/${service}.js`;
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [`services/${service}/src/main.ts`],
    outfile: file,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    banner: { js: REQUIRE },
    plugins: [inlineGrpc],
    mainFields: ["module", "main"],
    sourcemap: false,
    minifySyntax: true,
    keepNames: true, // error names and class names go into logs
    legalComments: "eof", // the licences that libraries ask to be kept
    metafile: true,
    logLevel: "warning",
  });
  return { file, bytes: metafile.outputs[file]?.bytes ?? 0, metafile };
}
