import type { AgentCredential, KnownAgent } from "@rockbot/a2a/ask";
import { ConfigError, loadConfig } from "@rockbot/process/config";
import { type Agent, agentsSchema, type Credential } from "./generated/agents.ts";

const CARD_PATH = "/.well-known/agent-card.json";
/** A credential in one of these would be no credential, or change what is asked. */
const OUR_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "content-type",
  "content-length",
  "accept",
  "accept-encoding",
  "connection",
  "transfer-encoding",
  "a2a-version",
  "a2a-extensions",
]);

/** The agents that a file names, those that are disabled left out. @throws {ConfigError} with all faults at once */
export function readAgentsFile(file: string): readonly KnownAgent[] {
  const { agents } = loadConfig(agentsSchema, { env: {}, file }) as {
    readonly agents: Readonly<Record<string, Agent>>;
  };
  const faults: string[] = [];
  const names = new Map<string, string>();
  const known = Object.entries(agents).flatMap(([name, { url, origins = [], credential, disabled = false }]) => {
    const other = names.get(name.toLowerCase());
    if (other !== undefined)
      faults.push(`agents.${name}: the agent is named already, as "${other}"; case does not tell agents apart`);
    names.set(name.toLowerCase(), name);
    const at = URL.parse(url);
    if (at === null) {
      faults.push(`agents.${name}.url: expected an address, such as https://agents.example.com`);
      return [];
    }
    const header = credential?.header?.toLowerCase();
    if (header !== undefined && (credential?.type ?? "bearer") !== "api_key")
      faults.push(`agents.${name}.credential.header: only an api_key has one`);
    if (header !== undefined && OUR_HEADERS.has(header))
      faults.push(`agents.${name}.credential.header: the header "${header}" is none for a credential`);
    const cardUrl = at.pathname.endsWith(".json")
      ? at.href
      : new URL(`${at.pathname.replace(/\/$/, "")}${CARD_PATH}`, at).href;
    const more = origins.flatMap((origin, i) => {
      const parsed = URL.parse(origin)?.origin;
      if (parsed === undefined)
        faults.push(`agents.${name}.origins.${i}: expected an origin, such as https://agents.example.com`);
      return parsed ?? [];
    });
    return disabled
      ? []
      : [{ name, cardUrl, origins: new Set([at.origin, ...more]), credential: credentialOf(credential) }];
  });
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `the file ${file}: ${fault}`));
  return known;
}

const credentialOf = (credential: Credential | undefined): AgentCredential | undefined =>
  credential === undefined
    ? undefined
    : {
        type: credential.type ?? "bearer",
        env: credential.env,
        header: credential.type === "api_key" ? (credential.header ?? "X-Api-Key").toLowerCase() : "authorization",
      };
