// Texts of small pieces of HTML, read in this process: for what a service of ours has bounded itself.

export { escapeMarkdown, plainText } from "./plain-text.ts";
