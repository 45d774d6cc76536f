import type { ToolAgentFinalReportInput } from "@rockbot/contracts";

/** The result of a task, as the agent that had it hands it over. */
export interface FinalReport {
  readonly status: ToolAgentFinalReportInput["status"];
  readonly format: ToolAgentFinalReportInput["format"];
  /** The report as text: JSON for the format `json`. */
  readonly content: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}
