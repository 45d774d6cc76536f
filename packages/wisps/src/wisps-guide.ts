import type { ToolGuide } from "@rockbot/contracts";

/** Teaches the model to write pipelines of calls. */
export const wispsGuide: ToolGuide = {
  name: "wisps",
  summary: "Run many known calls by one, as pipelines written as data, with spawn_wisps.",
  document: [
    "# Wisps\n\nUse `spawn_wisps` if you know the calls in advance: the same for many items, or one result that leads to the next call. Else call the tools yourself.\n",
    "- A step has an `id`, and either `tool` with `arguments`, or `ask`, a question to a model that calls no tools.",
    "- `{{/steps/ID/data/…}}` is a value in the result of another step, by JSON Pointer, and `{{/steps/ID/text}}` its text. Such a step waits for that one. Others run side by side.",
    "- `for_each` runs a step for each item of a list: `{{/item}}` is the item. `when` skips a step. `on_error: continue` lets the others go on.",
    "- All is checked before anything runs. An error names what to mend: mend it, and call again.\n",
    '```json\n{"definitions":[{"description":"Read the first result.","steps":[{"id":"find","tool":"web_search","arguments":{"query":"rabbitmq"}},{"id":"read","tool":"web_browse","arguments":{"url":"{{/steps/find/data/results/0/url}}"}}],"result":"{{/steps/read/text}}"}]}\n```\n',
    "`save_wisp`, if you have it, keeps a pipeline as the tool `wisp__NAME` of later turns.\n",
  ].join("\n"),
};
