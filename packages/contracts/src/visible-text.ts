/**
 * Characters that a reader does not see, or that change the order of the characters that he sees. They are controls but
 * tab and line feed, soft hyphens, zero-width and bidirectional marks, tags, variation selectors beyond the usual,
 * interlinear marks and fillers.
 */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|[\u17b4\u17b5]|[\u180b-\u180d\u180f]|[\u{e0000}-\u{e0fff}]/gu;
/**
 * Characters that join letters or part them stay where a script or a picture of several needs them. They stay one at a
 * time, and not among Latin letters.
 */
const STRAY_JOINER =
  /(?<![\p{M}\p{Extended_Pictographic}\p{EMod}\ufe0f[\p{L}--\p{Script=Latin}]])[\u200c\u200d]+|[\u200c\u200d]+(?![\p{M}\p{Extended_Pictographic}[\p{L}--\p{Script=Latin}]])|(?<=[\u200c\u200d])[\u200c\u200d]+/gv;
/** One after a sign says how it is drawn; more of them spell something else. */
const STRAY_SELECTOR = /(?<=^|\s|[\ufe00-\ufe0f])[\ufe00-\ufe0f]+/gu;
const ANY =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|[\u17b4\u17b5]|[\u180b-\u180d\u180f]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}]/u;

/**
 * A stranger's text as people see it: without characters that hide instructions from them, not from models, or that
 * steer a terminal. Line ends become line feeds.
 */
export function visibleText(text: string): string {
  if (!ANY.test(text)) return text;
  return text
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(UNSEEN, "")
    .replaceAll(STRAY_JOINER, "")
    .replaceAll(STRAY_SELECTOR, "");
}
