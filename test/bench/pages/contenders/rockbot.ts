import { toMarkdown } from "@rockbot/page/markdown";
import type { Convert } from "../contenders.ts";

export const convert: Convert = (html, url) => toMarkdown(html, url).markdown;
