import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { nearestName, type ToolGuide } from "@rockbot/contracts";
import { Meta } from "./meta.ts";

const MIME_TYPE = "text/markdown";
const URI_PREFIX = "rockbot://guides/";

/**
 * Our own guides as prompts: for people, whose client offers them as commands. What others say of themselves is no
 * command.
 */
export const promptsOf = (guides: readonly ToolGuide[]): Prompt[] =>
  own(guides).map(({ name, summary }) => ({ name, description: summary }));

const own = (guides: readonly ToolGuide[]): readonly ToolGuide[] => guides.filter(({ trust }) => trust == null);

/** @throws {ProtocolError} if there is no such guide */
export function promptOf(guides: readonly ToolGuide[], name: string): GetPromptResult {
  const guide = own(guides).find((each) => each.name === name);
  if (guide !== undefined)
    return {
      description: guide.summary,
      messages: [{ role: "user", content: { type: "text", text: guide.document } }],
    };
  const nearest = nearestName(name, guides.map((each) => each.name)); // biome-ignore format: one thought
  const help = nearest === undefined ? "prompts/list names those there are" : `did you mean "${nearest}"?`;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name.slice(0, 80)}": ${help}`);
}

/** Guides as resources: for models and programs, whose client attaches them. */
export const resourcesOf = (guides: readonly ToolGuide[]): Resource[] =>
  guides.map(({ name, summary, document, trust }) => ({
    uri: `${URI_PREFIX}${name}`,
    name,
    description: summary,
    mimeType: MIME_TYPE,
    size: Buffer.byteLength(document),
    ...(trust == null ? {} : { _meta: { [Meta.Trust]: trust } }),
  }));

/** @throws {ResourceNotFoundError} */
export function resourceOf(guides: readonly ToolGuide[], uri: string): ReadResourceResult {
  const guide = guides.find(({ name }) => `${URI_PREFIX}${name}` === uri);
  if (guide === undefined)
    throw new ResourceNotFoundError(
      uri.slice(0, 256),
      "There is no such resource: resources/list names those there are",
    );
  return {
    contents: [
      {
        uri,
        mimeType: MIME_TYPE,
        text: guide.document,
        ...(guide.trust == null ? {} : { _meta: { [Meta.Trust]: guide.trust } }),
      },
    ],
  };
}
