import { counted, newId, ToolError, ToolErrorCode, type ToolGuide, tools } from "@rockbot/contracts";
import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { openToolClient } from "../client/open-tool-client.ts";
import { CommandError } from "../command-error.ts";
import { plainText } from "../terminal/plain-text.ts";
import { UsageError } from "../usage-error.ts";

/** `rockbot guide`: the tools' own guide tools, for people. */
export async function guide(
  name: string | undefined,
  { bus, mcpConfig }: { readonly bus?: string; readonly mcpConfig?: string },
): Promise<void> {
  const faults = busUrlFaults(chooseBusUrl(bus, process.env));
  if (faults.length > 0) throw new UsageError(faults);
  await using client = await openToolClient({ bus, allowAddress: [], mcpConfig, env: process.env });
  try {
    const options = { toolCallId: newId() };
    const { content, structured, isError } =
      name === undefined
        ? await client.call(tools.listToolGuides.name, {}, options)
        : await client.call(tools.getToolGuide.name, { name }, options);
    if (isError === true) throw new UsageError([content ?? "there is no such guide"]);
    if (name === undefined) {
      const { guides } = structured as { readonly guides: readonly ToolGuide[] };
      for (const { name, summary } of guides) console.log(plainText(`${name}: ${summary}`));
      console.error(`${counted(guides.length, "guide")}. Read one: rockbot guide NAME`);
    } else console.log(plainText(content ?? ""));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (error.code === ToolErrorCode.InvalidArguments) throw new UsageError([error.message]);
    throw new CommandError(`${error.code}: ${error.message}`);
  }
}
