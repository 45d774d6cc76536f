// Texts of small pieces of HTML, read in this process: for what a service of ours has bounded itself.

export { type HtmlToTextOptions, htmlToText } from "./html-to-text.ts";
export { escapeMarkdown, plainText } from "./plain-text.ts";
