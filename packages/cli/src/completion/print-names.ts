import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/** The program that prints names for a completion script. It lies beside this file, in the sources as in a bundle. */
export const PRINT_NAMES = fileURLToPath(new URL(`./print-names-main${extname(import.meta.url)}`, import.meta.url));
