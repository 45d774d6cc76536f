/** Characters that readers of text take for the end of a line, beside those that JSON escapes anyway. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** A message as one line of JSON, for readers that cut lines at whatever characters. */
export const jsonLine = (message: unknown): string =>
  `${JSON.stringify(message).replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
