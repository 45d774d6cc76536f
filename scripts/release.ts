/**
 * Publishes the library to npm, with a provenance that says from which commit and by which pipeline it was built. Dry
 * by default: `npm run release` builds, checks, and says what would be published and what stands in the way. `npm run
 * release -- --publish` publishes, from a pipeline of GitHub or GitLab that gives out identity tokens. Exit 1 if it may
 * not be published.
 */
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { runTool } from "./check/run-tool.ts";
import { buildLibrary } from "./library/build-library.ts";
import { checkLibrary } from "./library/check-library.ts";
import { packLibrary } from "./library/pack-library.ts";
import { releaseFaults } from "./library/release-faults.ts";
import { repositoryUrl } from "./release/source-faults.ts";

const root = dirname(import.meta.dirname);
const { values } = parseArgs({ options: { publish: { type: "boolean", default: false } } });

const repository = await repositoryUrl(root, process.env);
const library = await buildLibrary(root, { repository });
const { file } = await packLibrary(root, library);
await checkLibrary(root, file);
const faults = await releaseFaults(root, library, process.env);
for (const fault of faults) console.error(`in the way: ${fault}`);
if (values.publish && faults.length > 0) {
  console.error(`Cannot publish ${library.name} ${library.version}: see above`);
  process.exit(1);
}
const tag = library.version.includes("-") ? "next" : "latest";
const how = ["--provenance", "--access", "public", "--tag", tag];
await runTool(root, "npm", ["publish", file, ...how, ...(values.publish ? [] : ["--dry-run"])]);
console.error(
  values.publish
    ? `${library.name} ${library.version} is published as "${tag}"`
    : `Dry run: ${file} would be published as ${library.name} ${library.version}, tag "${tag}", with provenance. Run npm run release -- --publish in the pipeline`,
);
