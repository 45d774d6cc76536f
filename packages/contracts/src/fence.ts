/** `text` as a fenced code block whose fence is longer than any run of backticks inside. */
export function fence(text: string, language = ""): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const marks = "`".repeat(longest + 1);
  return `${marks}${language}\n${text.replace(/\n$/, "")}\n${marks}`;
}
