/**
 * Publishes the library and the command to npm, with a provenance that says from which commit and by which pipeline they
 * were built. Dry by default: `npm run release` leaves in `dist/release` all that a release consists of, and says what
 * stands in the way. `npm run release -- --publish` publishes, from a pipeline of GitHub or GitLab that gives out
 * identity tokens. Exit 1 if it may not be published.
 */
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { runTool } from "./check/run-tool.ts";
import { releaseFaults } from "./library/release-faults.ts";
import { makeRelease, RELEASE_FOLDER } from "./release/make-release.ts";
import { repositoryUrl } from "./release/source-faults.ts";

const root = dirname(import.meta.dirname);
const { values } = parseArgs({ options: { publish: { type: "boolean", default: false } } });

const { library, tarball, files, missing } = await makeRelease(root, await repositoryUrl(root, process.env));
for (const file of files) console.error(`made: ${RELEASE_FOLDER}/${file}`);
for (const why of missing) console.error(`missing: ${why}`);
const faults = await releaseFaults(root, library, process.env);
for (const fault of faults) console.error(`in the way: ${fault}`);
if (values.publish && faults.length > 0) {
  console.error(`Cannot publish ${library.name} ${library.version}: see above`);
  process.exit(1);
}
const tag = library.version.includes("-") ? "next" : "latest";
const how = ["--provenance", "--access", "public", "--tag", tag];
await runTool(root, "npm", ["publish", tarball, ...how, ...(values.publish ? [] : ["--dry-run"])]);
console.error(
  values.publish
    ? `${library.name} ${library.version} is published as "${tag}"`
    : `Dry run: ${tarball} would be published as ${library.name} ${library.version}, tag "${tag}", with provenance. Nothing is signed here: a signature needs the identity of a pipeline, as .github/workflows/release.yml has it. Run npm run release -- --publish in the pipeline`,
);
