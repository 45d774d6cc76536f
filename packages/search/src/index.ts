// To rank texts.

export { type Ranked, rank, rankWithScores } from "@rockbot/base/ranking";
export { type Embed, fuseRanks, Meanings } from "./rank/meanings.ts";
export { type Field, type Fields, type Match, SearchIndex } from "./rank/search-index.ts";
export { allExtras, type Extras, noExtras } from "./words/extras.ts";

// To find services.

export { alwaysThere, serviceEntriesOf, type VisibleServers } from "./services/service-entries-of.ts";
export type { ServiceEntry, ServiceTool } from "./services/service-entry.ts";
export type { ServiceHit } from "./services/service-hit.ts";
export { ServiceSearch, type ServiceSearchOptions, type ToolHit } from "./services/service-search.ts";
export { type Hints, writeHints } from "./services/write-hints.ts";

// To give a model.

export { searchGuide } from "./tools/search-guide.ts";
export { searchTool } from "./tools/search-known-services.ts";
export { invokedCall, type ToolsModeOptions, toolsModeTools } from "./tools/tools-mode.ts";
export { usableEntries } from "./tools/usable-entries.ts";

// To summarize services.

export { Summaries, type SummariesOptions } from "./summaries/summaries.ts";
export type { Summarize, SummaryModel } from "./summaries/summarize-by.ts";
export { createMemorySummaryStore, type SummaryStore } from "./summaries/summary-store.ts";
