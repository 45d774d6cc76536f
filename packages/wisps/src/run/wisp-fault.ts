/** What failed a pipeline, in the words of the original: its form, a tool or service, a model's answer, a value. */
export type WispCategory = "Structural" | "External" | "Judgment" | "Data";

/** Why a step has failed. */
export class WispFault extends Error {
  override readonly name = "WispFault";
  readonly category: WispCategory;

  constructor(category: WispCategory, message: string, options?: ErrorOptions) {
    super(message, options);
    this.category = category;
  }
}

const STRUCTURAL: readonly string[] = ["tool_not_found", "invalid_arguments", "denied"];

/** The category of an error, by the code that its words begin with. */
export const categoryOf = (words: string): WispCategory =>
  STRUCTURAL.includes(/^([a-z_]+): /.exec(words)?.[1] ?? "") ? "Structural" : "External";
