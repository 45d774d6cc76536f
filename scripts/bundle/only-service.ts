import { dirname } from "node:path";
import { type ServiceName, serviceNamed } from "@rockbot/services";
import type { Plugin } from "esbuild";

/**
 * Makes of `services/main.ts` the main of one service. What the list would import of the others stays out of its
 * bundle.
 */
export function onlyService(service: string): Plugin {
  const [file, run] = serviceNamed(service as ServiceName).onBus
    ? ["run-on-bus", "runOnBus"]
    : ["run-server", "runServer"];
  const contents = `import { serviceNamed } from "./index.ts"; import { ${run} } from "./${file}.ts"; await ${run}(serviceNamed("${service}"), process.env);`;
  return {
    name: "only-service",
    setup({ onLoad, onResolve }) {
      onLoad({ filter: /\/services\/main\.ts$/ }, ({ path }) => ({
        contents,
        loader: "ts",
        resolveDir: dirname(path),
      }));
      onResolve({ filter: /^\.\/[^/]+\/src\// }, ({ path, importer }) =>
        importer.endsWith("/services/index.ts") && !path.startsWith(`./${service}/`)
          ? { path, external: true }
          : undefined,
      );
    },
  };
}
