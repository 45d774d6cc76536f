import { tools } from "@rockbot/contracts";
import { AdvisedTools, advised } from "@rockbot/tools";
import { knowledgeGuide } from "../knowledge-guide.ts";
import type { KnowledgeDesk } from "./knowledge-desk.ts";
import { knowledgeGet } from "./knowledge-get.ts";
import { knowledgeSave } from "./knowledge-save.ts";
import { knowledgeSearch } from "./knowledge-search.ts";

/** What there is now, as advice for models: all kinds, and the categories that everybody may know. */
export interface Advice {
  readonly kinds: readonly string[];
  readonly categories: readonly string[];
}

export interface KnowledgeProviderOptions {
  /** True to offer the search as `search`, too. */
  readonly offerSearch: boolean;
}

/** The tools, whose schemas have the kinds and categories of now. */
export const knowledgeProvider = (
  desk: KnowledgeDesk,
  advice: Advice,
  { offerSearch }: KnowledgeProviderOptions,
): AdvisedTools<Advice> =>
  new AdvisedTools<Advice>({
    advice,
    guides: [knowledgeGuide],
    tools: ({ kinds, categories }) => [
      knowledgeSearch(desk, advised(tools.knowledgeSearch, { kinds }, { categories })),
      ...(offerSearch ? [knowledgeSearch(desk, advised(tools.search, { kinds }, { categories }))] : []),
      knowledgeGet(desk),
      knowledgeSave(desk, advised(tools.knowledgeSave, { kind: kinds }, { categories })),
    ],
  });
