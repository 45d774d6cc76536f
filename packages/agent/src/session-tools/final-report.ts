import {
  describeFaults,
  faultsText,
  parseArguments,
  type ToolAgentFinalReportInput,
  ToolError,
  ToolErrorCode,
  tools,
  type Validator,
} from "@rockbot/contracts";
import { schemaCompiler } from "@rockbot/policy";
import { defineTool, type Tool } from "@rockbot/tools";
import type { FinalReport } from "../words/final-report.ts";

/**
 * `agent__final_report`: checks the report. The turn ends with it, as `reportOf` reads it again from the call.
 * @param schema what data has to be like; then the report has to be data, but for a question
 */
export function finalReportTool(schema?: object): Tool {
  return defineTool(tools.agentFinalReport, async (input) => {
    const { status, format, content } = reportOf(input);
    if (status === "input-required")
      return {
        content: "The question is passed on. If there is an answer, it is the next message.",
        structured: { status },
      };
    if (schema !== undefined) await checkContent(schema, { format, content });
    return { content: "The report is taken. The task ends with it.", structured: { status } };
  });
}

/** The report that a call makes. @throws {ToolError} that says what to mend */
export function reportOf({
  status,
  format,
  content,
  content_json: data,
  metadata,
}: ToolAgentFinalReportInput): FinalReport {
  const rest = { status, format, ...(metadata === undefined ? {} : { metadata }) };
  if (format === "json" && status === "input-required")
    throw refused("a question is a text in content, with the format text or markdown");
  if (format !== "json") {
    const text = content ?? (typeof data === "string" ? data : undefined);
    if (text === undefined || text.trim() === "")
      throw refused(`with the format ${format} the result is a text in content, and there is none`);
    return { ...rest, content: text };
  }
  const value =
    typeof data === "string"
      ? parsed(data, "content_json")
      : (data ?? (content === undefined ? undefined : parsed(content, "content")));
  if (typeof value !== "object" || value === null)
    throw refused(
      `with the format json the result is an object or an array in content_json, and there is ${value === undefined ? "none" : "another value"}`,
    );
  return { ...rest, content: JSON.stringify(value) };
}

/** Models give data as the text of it, too. */
function parsed(text: string, field: string): unknown {
  const read = parseArguments(text);
  if (!read.ok) throw refused(`${field} is ${read.fault.message}; expected JSON`);
  return read.value;
}

async function checkContent(
  schema: object,
  { format, content }: Pick<FinalReport, "format" | "content">,
): Promise<void> {
  if (format !== "json")
    throw refused(
      `this task asks for data: give format json, and content_json by this JSON Schema: ${JSON.stringify(schema).slice(0, 4_000)}`,
    );
  let validate: Validator<unknown>;
  try {
    validate = (await schemaCompiler())(schema);
  } catch (error) {
    throw new ToolError(
      ToolErrorCode.ExecutionFailed,
      `The report was not checked: the schema of the agent cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
  const value: unknown = JSON.parse(content);
  if (!validate(value))
    throw refused(`content_json does not fit: ${faultsText(describeFaults(validate, schema, value))}`);
}

const refused = (why: string): ToolError =>
  new ToolError(
    ToolErrorCode.InvalidArguments,
    `The report was not taken: ${why}. Mend that, and call "${tools.agentFinalReport.name}" again.`,
  );
