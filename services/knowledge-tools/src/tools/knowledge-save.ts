import { createHash } from "node:crypto";
import { namesHelp, ToolError, ToolErrorCode, type ToolKnowledgeSaveInput, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { fold, type KnowledgeItem, storable } from "../item/knowledge-item.ts";
import { bytesOf } from "../store/knowledge-store.ts";
import { type KnowledgeDesk, withStore } from "./knowledge-desk.ts";
import { noSuchItem } from "./knowledge-get.ts";

/** The space of items that their owner alone reads, in the words of the tool. */
const PRIVATE = "private";

/**
 * `knowledge_save`: makes an item of the caller's, or changes one. Its id follows from the call, so that a call that is
 * run again makes no second item. What a turn saves that has read strangers' content is strangers' content.
 */
export function knowledgeSave(desk: KnowledgeDesk, definition = tools.knowledgeSave): Tool {
  const { store, kinds, readerOf, onSaved, now } = desk;
  return defineTool(
    definition,
    (input, { caller, toolCallId, hasReadUntrusted = false, log }) =>
      withStore("save the item", log, async () => {
        const id = storable(
          input.id ??
            createHash("sha256")
              .update(JSON.stringify([caller, toolCallId]))
              .digest("hex")
              .slice(0, 24),
        );
        const [known] = await store.get([id]);
        if (input.id != null && (known === undefined || !readerOf(caller).sees(known))) throw noSuchItem(id);
        if (known !== undefined && known.owner !== caller)
          throw denied(`the item ${JSON.stringify(id)} belongs to another caller. Save one of your own.`);
        const space = input.space == null ? known?.space : input.space === PRIVATE ? undefined : input.space;
        const spaces = readerOf(caller).spaces;
        if (space !== undefined && space !== known?.space && !spaces.includes(space))
          throw denied(
            `the policy does not open the space "${space}" for "${caller}". ${namesHelp(space, [...spaces, PRIVATE])}`,
          );
        const item = itemOf(input, known, {
          id,
          space,
          caller,
          kinds,
          at: now(),
          origin: hasReadUntrusted ? `knowledge of ${caller}` : undefined,
        });
        const has = await store.countOf(caller);
        const more = bytesOf(item) - (known === undefined ? 0 : bytesOf(known));
        if (more > 0 && has.bytes + more > desk.maxBytesPerCaller)
          throw denied(
            `the items of "${caller}" would have ${has.bytes + more} bytes, and may have ${desk.maxBytesPerCaller}. Make one that is there shorter.`,
          );
        if (known === undefined && has.items >= desk.maxItemsPerCaller)
          throw denied(
            `"${caller}" has ${desk.maxItemsPerCaller} items, which is all that it may have. Change one that is there.`,
          );
        await store.save([item]);
        onSaved();
        const created = known === undefined;
        const who = space === undefined ? "for you alone" : `in the space ${space}`;
        return {
          content: `${created ? "Saved" : "Changed"} the item ${id} ${who}.`,
          structured: { id, created, space: space ?? null },
        };
      }),
    { isResumable: true },
  );
}

const denied = (why: string): ToolError => new ToolError(ToolErrorCode.Denied, `Cannot save: ${why}`);

interface ItemParts {
  readonly id: string;
  readonly space: string | undefined;
  readonly caller: string;
  readonly kinds: readonly string[];
  readonly at: number;
  readonly origin: string | undefined;
}

/** @throws {ToolError} with all that is missing or wrong */
function itemOf(
  input: ToolKnowledgeSaveInput,
  known: KnowledgeItem | undefined,
  { id, space, caller, kinds, at, origin }: ItemParts,
): KnowledgeItem {
  const [title, body] = [input.title ?? known?.title, input.body ?? known?.body];
  const wanted = input.kind ?? known?.kind ?? kinds[0] ?? "";
  const kind = kinds.find((each) => fold(each) === fold(wanted));
  const faults = [
    ...(title === undefined ? ["title: a new item needs one"] : []),
    ...(body === undefined ? ["body: a new item needs one"] : []),
    ...(kind === undefined ? [`kind: ${JSON.stringify(wanted)} is not a known kind. ${namesHelp(wanted, kinds)}`] : []),
  ];
  if (title === undefined || body === undefined || kind === undefined)
    throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot save: ${faults.join("; ")}`);
  return {
    id,
    kind,
    title: storable(title.trim()),
    body: storable(body),
    author: known?.author ?? caller,
    categories: distinct(input.categories ?? known?.categories ?? []),
    tags: distinct(input.tags ?? known?.tags ?? []),
    owner: caller,
    space,
    origin,
    createdAt: at,
    updatedAt: at,
  };
}

/** Without those that are there in another case. */
const distinct = (names: readonly string[]): string[] =>
  [...new Map(names.map((name) => [fold(name), storable(name.trim())] as const).reverse()).values()].reverse();
