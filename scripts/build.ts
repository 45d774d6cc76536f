/**
 * Builds the library that other programs install, and looks at it as a registry's users would: `dist/npm/rockbot`, and
 * beside it the tarball, which `npm install` takes. Exit 1 if publint or Are The Types Wrong find anything.
 */
import { dirname } from "node:path";
import { buildLibrary } from "./library/build-library.ts";
import { checkLibrary } from "./library/check-library.ts";
import { packLibrary } from "./library/pack-library.ts";

const root = dirname(import.meta.dirname);

const library = await buildLibrary(root);
const { file, bytes } = await packLibrary(root, library);
try {
  await checkLibrary(root, file);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
console.error(
  `${library.name} ${library.version}: ${file}, ${Math.round(bytes / 1024)} KiB; publint and attw find nothing. To use it: npm install ${file}`,
);
