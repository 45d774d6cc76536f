import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CommandError } from "../command-error.ts";

/**
 * The files of the folder `docker` that services read again while they run: where each lies, where it lay before, and
 * the variable that names another.
 */
const FILES = [
  { was: "policy.yaml", is: "policy/policy.yaml" },
  { was: "mcp.json", is: "mcp/mcp.json", variable: "ROCKBOT_MCP_CONFIG" },
  { was: "rest.json", is: "rest/rest.json", variable: "ROCKBOT_REST_CONFIG" },
  { was: "well-known-agents.json", is: "a2a/well-known-agents.json", variable: "ROCKBOT_A2A_AGENTS_FILE" },
] as const;

/** Files that nobody means to hand to a service. */
const SECRET = /\.(env|pem|key)(\.|$)/i;

/**
 * Checks the folders that compose mounts into the services which read a file in them.
 * @param docker the folder `docker`, which has files of `FILES` where they lay before only if an operator has put them
 * there
 * @param folders has a folder `mcp`, `rest` and `a2a`: that of the file which the variable names
 * @throws {CommandError} with all faults: a file that nobody reads, none where one is named, a folder with more in it
 * than such files
 */
export function checkFolders(docker: string, folders: string, env: Readonly<Record<string, string | undefined>>): void {
  const faults: string[] = [];
  for (const { was, is, ...named } of FILES) {
    if (existsSync(join(docker, was))) faults.push(`docker/${was}: nobody reads it any more. Move it to docker/${is}`);
    if (!("variable" in named)) continue;
    const path = env[named.variable] || `docker/${is}`;
    const folder = join(folders, dirname(is));
    const others = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() || SECRET.test(entry.name) ? [entry.name] : [],
    );
    if (!existsSync(join(folder, basename(path)))) faults.push(`${named.variable}: there is no file ${path}`);
    if (others.length > 0) {
      faults.push(
        `${named.variable}: a service gets the whole folder of ${path}, in which there is also ${others.slice(0, 3).join(", ")}. Move the file into a folder of its own, such as docker/${dirname(is)}`,
      );
    }
  }
  if (faults.length > 0) throw new CommandError(`Cannot hand out files of docker-compose.yml:\n${faults.join("\n")}`);
}
