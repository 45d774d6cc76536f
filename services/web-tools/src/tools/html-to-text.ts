import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { PageConversionError, type PageConverter } from "@rockbot/page";
import { defineTool, type Tool } from "@rockbot/tools";

/** `html_to_text`: HTML that the caller has, as readable plain text. */
export function htmlToTextTool({ converter }: { readonly converter: PageConverter }): Tool {
  return defineTool(tools.htmlToText, async ({ html, url }, { signal }) => {
    try {
      const text = await converter.text(html, { url, signal });
      return { content: text || "(The HTML holds no text.)", structured: { characters: text.length } };
    } catch (error) {
      if (!(error instanceof PageConversionError)) throw error;
      throw new ToolError(
        ToolErrorCode.ExecutionFailed,
        `Cannot turn the HTML into text: ${error.message}. Try it with a part of the HTML.`,
        { cause: error },
      );
    }
  });
}
