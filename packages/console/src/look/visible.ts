/** Characters that hide, move or turn text around; line feeds and tabs are none. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

/** A stranger's text with all of it to be seen. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
