// Texts of small pieces of HTML, read in this process: for what a service of ours has bounded itself.

export { escapeText, inLink } from "../write/escape-text.ts";
export { type HtmlToTextOptions, htmlToText } from "./html-to-text.ts";
export { plainText } from "./plain-text.ts";
