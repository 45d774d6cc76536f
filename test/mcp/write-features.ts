/** Tries each feature with each kind of MCP server, and writes what it finds to docs/reference/mcp-features.md. */
import { writeFile } from "node:fs/promises";
import { startOwnBroker } from "@rockbot/testing";
import { featureDocument, probeFeatures } from "./feature-matrix.ts";
import { FEATURES_FILE } from "./features-file.ts";

await using broker = await startOwnBroker();
const document = featureDocument(await probeFeatures(broker.url));
await writeFile(FEATURES_FILE, document);
process.stdout.write(document);
