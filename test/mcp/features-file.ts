import { dirname, join } from "node:path";

/** Where the document of features lies. */
export const FEATURES_FILE = join(dirname(dirname(import.meta.dirname)), "docs/reference/mcp-features.md");
