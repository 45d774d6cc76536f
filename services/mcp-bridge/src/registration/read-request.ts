import { isIP } from "node:net";
import { type McpRegisterServerRequest, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { RequestedAddress, RequestedServer } from "@rockbot/trust";
import { isHostAllowed } from "./allowed-hosts.ts";
import { isForbiddenVariable } from "./forbidden-environment.ts";

const NAME = /^[a-z0-9][a-z0-9-]{0,38}$/;
/** What is seen as it is: no blanks but the plain one, no characters that are not seen. */
const PRINTABLE = /^[\x20-\x7e]*$/;
const URL_TEXT = /^https:\/\/[\x21-\x5b\x5d-\x7e]+$/;
const COMMAND = /^\/(?:[A-Za-z0-9._+-]+\/)*[A-Za-z0-9._+-]+$/;
const SHELL_SYNTAX = /[;&|`$<>(){}*?!\\\n\r\0"']/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const MAX_ARGS = 64;
const MAX_VARIABLES = 20;
const MAX_TEXT = 1_024;

/** Programs that run any command in their arguments, so that to approve one would be to approve anything. */
const RUNS_ANYTHING =
  /^(?:ba|da|z|k|c|tc|a|fi|pw)?sh$|^(?:busybox|env|xargs|sudo|su|doas|nohup|setsid|timeout|nice|chroot|unshare|nsenter|ssh|script|expect|watch|find|awk|gawk|sed|vim?|ed|make|npx|uvx|bunx|pnpx|npm|pnpm|yarn|pip\d*|uv|docker|podman|kubectl|powershell|osascript|at|crontab)(?:\.exe)?$/i;
const INTERPRETER =
  /^(?:node|nodejs|deno|bun|python[\d.]*|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|java|rscript|tclsh)$/i;

/**
 * Reads an agent's request, if a server of its kind may be registered at all. Texts are taken as they are: nothing in
 * them stands for a variable.
 * @param hosts those that the operator has listed, which may have any name
 * @throws {ToolError} that says what is wrong, and what would be right
 */
export function readRequest(
  { serverName, type, url, command, args = [], env = {} }: McpRegisterServerRequest,
  hosts: readonly string[],
): RequestedServer {
  if (!NAME.test(serverName))
    throw invalid("name: expected 1 to 39 lower-case letters, digits and hyphens, such as weather");
  if (url != null && command != null)
    throw invalid("both url and command are given: give one of them, or none for an entry of the catalogue");
  if (url != null) {
    if (args.length > 0 || Object.keys(env).length > 0) throw invalid("args and env belong to a command, not to a url");
    return { name: serverName, address: { kind: "url", url: readUrl(url, hosts), transport: transportOf(type) } };
  }
  if (command != null) return { name: serverName, address: readCommand(command, args, env as Record<string, string>) };
  if (args.length > 0 || Object.keys(env).length > 0)
    throw denied("an entry of the catalogue is taken as the operator wrote it: leave args and env out");
  return { name: serverName, address: { kind: "catalogue" } };
}

function transportOf(type: string): "auto" | "http" | "sse" {
  switch (type.toLowerCase()) {
    case "":
    case "auto":
      return "auto";
    case "http":
    case "streamable-http":
      return "http";
    case "sse":
      return "sse";
    default:
      throw invalid(`type: expected http or sse with a url, got ${JSON.stringify(type.slice(0, 40))}`);
  }
}

function readUrl(text: string, hosts: readonly string[]): string {
  const url = URL_TEXT.test(text) ? URL.parse(text) : null;
  if (url === null)
    throw denied(
      "url: only whole https:// addresses of visible ASCII characters can be registered, such as https://mcp.example.com/mcp",
    );
  if (url.username !== "" || url.password !== "" || text.includes("@"))
    throw denied("url: it holds a user name or an @; leave them out");
  if (text.includes("${")) throw denied("url: it holds a variable; nothing is put in its place");
  if (url.hash !== "") throw denied("url: it has a fragment; leave it out");
  if (isHostAllowed(url.href, hosts)) return url.href;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) throw denied("url: its host is an address; name a host instead");
  if (
    !host.includes(".") ||
    host.endsWith(".") ||
    /(?:^|\.)(?:localhost|local|internal|lan|home|corp|test|invalid|onion|arpa)$/i.test(host)
  )
    throw denied("url: its host is not one of the public Internet");
  return url.href;
}

function readCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): RequestedAddress {
  if (
    !COMMAND.test(command) ||
    command.length > 256 ||
    command.split("/").some((part) => part === "." || part === "..")
  )
    throw denied(
      "command: only a whole path to a program can be asked for, such as /usr/bin/weather-mcp; no shell reads it",
    );
  const program = command.slice(command.lastIndexOf("/") + 1);
  if (RUNS_ANYTHING.test(program))
    throw denied(`command: ${program} runs any command in its arguments; ask for the program itself`);
  if (INTERPRETER.test(program) && (args[0] === undefined || args.some((arg) => arg.startsWith("-"))))
    throw denied(`command: ${program} can only be asked for with a file to run, and without options`);
  if (
    args.length > MAX_ARGS ||
    args.some((arg) => arg.length > MAX_TEXT || !PRINTABLE.test(arg) || SHELL_SYNTAX.test(arg))
  )
    throw denied(
      `args: at most ${MAX_ARGS} plain texts of visible ASCII characters without shell syntax can be asked for`,
    );
  const variables = Object.entries(env);
  if (variables.length > MAX_VARIABLES) throw denied(`env: at most ${MAX_VARIABLES} variables can be asked for`);
  for (const [name, value] of variables) {
    if (!VARIABLE.test(name) || isForbiddenVariable(name))
      throw denied(
        `env: the variable ${JSON.stringify(name.slice(0, 64))} cannot be set, as it could change what the program is`,
      );
    if (value.length > MAX_TEXT || !PRINTABLE.test(value) || value.includes("${"))
      throw denied(`env: the value of ${name} is not a plain text of visible ASCII characters`);
  }
  return { kind: "command", command, args: [...args], env: { ...env } };
}

const invalid = (what: string): ToolError =>
  new ToolError(ToolErrorCode.InvalidArguments, `Cannot register the server: ${what}`);

const denied = (what: string): ToolError => new ToolError(ToolErrorCode.Denied, `Cannot register the server: ${what}`);
