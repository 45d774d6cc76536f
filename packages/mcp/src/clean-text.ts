/**
 * Characters that a reader does not see, or that change the order of what is seen: controls but tab and line feed, soft hyphens,
 * zero-width and bidirectional marks, tags, variation selectors beyond the usual, interlinear marks. They hide instructions
 * from people who look at a tool's description, not from models.
 */
const DECEPTIVE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/gu;

/** A stranger's text without deceptive characters, cut to `maxLength` characters. */
export function cleanText(text: string, maxLength: number): string {
  const clean = text.replaceAll("\r\n", "\n").replaceAll(DECEPTIVE, "");
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1)}…` : clean;
}
