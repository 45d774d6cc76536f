import { existsSync } from "node:fs";
import { join } from "node:path";

/** The folder of the built page: beside a bundle, or in the checkout. Undefined before it has been built. */
export const consoleFiles = (): string | undefined =>
  ["console", "../dist"]
    .map((folder) => join(import.meta.dirname, folder))
    .find((folder) => existsSync(join(folder, "index.html")));
