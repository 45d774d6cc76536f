import { fillPage } from "../fill-page.ts";
import { modelTexts } from "../source/model-texts.ts";
import type { Source } from "../source/sources.ts";

/**
 * `docs/reference/model-texts.md`: all texts for models besides the descriptions of tools, so that a change of one is
 * seen and read.
 */
export async function modelTextsReference(sources: readonly Source[]): Promise<string> {
  const parts = Map.groupBy(modelTexts(sources), ({ part }) => part);
  const lists = [...parts].map(
    ([part, texts]) => `### \`${part}\`\n\n\`\`\`text\n${texts.map(({ text }) => text).join("\n")}\n\`\`\``,
  );
  return fillPage("model-texts", "the errors and prompts in packages and services", { texts: lists.join("\n\n") });
}
