import { createHash } from "node:crypto";
import { allToolNames } from "../generated/tools.ts";
import { RESERVED_PREFIXES, reservedPrefixOf } from "./reserved-prefixes.ts";

const MAX_LENGTH = 64;
const SEPARATOR = "__";
/** Only the prefix of such a server looks so. */
const HASHED_PREFIX = new RegExp(`^(?:${RESERVED_PREFIXES.join("|")})_[0-9a-f]{8}$`, "i");

/**
 * The name under which a service announces the tool of an MCP server: `{server}__{tool}`. A model's API may not take
 * that name, or another pair or a tool of ours may have it too. Then "_" replaces the odd characters, and a hash of the
 * pair ends the name. So each pair has one name, everywhere and always.
 */
export function announcedMcpName(server: string, tool: string): string {
  const own = ownPrefix(server);
  const plain = `${own}${SEPARATOR}${tool}`;
  const isClear =
    /^[A-Za-z0-9_-]+$/.test(plain) &&
    plain.length <= MAX_LENGTH &&
    !own.includes(SEPARATOR) &&
    !own.endsWith("_") &&
    !tool.startsWith("_");
  const isHashed = /_[0-9a-f]{8}$/.test(tool) || (own === server && HASHED_PREFIX.test(server));
  if (isClear && !isHashed && !allToolNames.includes(plain)) return plain;
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
  return `${withoutOddCharacters(plain).slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`;
}

/**
 * True if a tool of the server, known or not, may be the one that is announced under the name. Case does not matter.
 */
export const mayBeAnnouncedMcpName = (name: string, server: string): boolean =>
  name.toLowerCase().startsWith(announcedMcpPrefix(server).toLowerCase());

/** How the names begin that the tools of a server are announced with. */
export const announcedMcpPrefix = (server: string): string =>
  withoutOddCharacters(`${ownPrefix(server)}${SEPARATOR}`).slice(0, MAX_LENGTH / 2);

/** A server that is called as tools of ours begin has a prefix of its own, which no rule on those tools means. */
const ownPrefix = (server: string): string => {
  const reserved = reservedPrefixOf(withoutOddCharacters(`${server}${SEPARATOR}`));
  return reserved === undefined
    ? server
    : `${reserved}_${createHash("sha256").update(server).digest("hex").slice(0, 8)}`;
};

const withoutOddCharacters = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, "_");
