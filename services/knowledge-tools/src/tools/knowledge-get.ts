import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { storable } from "../item/knowledge-item.ts";
import { isoTime, type KnowledgeDesk, trustOf, withStore } from "./knowledge-desk.ts";

/** `knowledge_get`: one item in full. An item that the caller may not read is as one that is not there. */
export function knowledgeGet({ store, readerOf }: KnowledgeDesk): Tool {
  return defineTool(tools.knowledgeGet, ({ id }, { caller, log }) =>
    withStore("read the item", log, async () => {
      const [item] = await store.get([storable(id)]);
      if (item === undefined || !readerOf(caller).sees(item)) throw noSuchItem(id);
      const { kind, title, body, author, owner, space = null, createdAt, updatedAt } = item;
      const [categories, tags] = [[...item.categories], [...item.tags]];
      const facts = [
        `kind: ${kind}`,
        `author: ${author}`,
        ...(categories.length === 0 ? [] : [`categories: ${categories.join(", ")}`]),
        ...(tags.length === 0 ? [] : [`tags: ${tags.join(", ")}`]),
        `updated: ${isoTime(updatedAt)}`,
      ];
      return {
        content: `# ${title}\n\n${facts.join("\n")}\n\n${body}`,
        structured: {
          id,
          kind,
          title,
          body,
          author,
          categories,
          tags,
          owner,
          space,
          created_at: isoTime(createdAt),
          updated_at: isoTime(updatedAt),
        },
        ...trustOf([item]),
      };
    }),
  );
}

export const noSuchItem = (id: string): ToolError =>
  new ToolError(
    ToolErrorCode.InvalidArguments,
    `There is no item ${JSON.stringify(id)} that you may read. knowledge_search gives the ids of those that there are.`,
  );
