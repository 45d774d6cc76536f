import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useMemo } from "react";

/** What a text of strangers may be made of: it loads nothing, looks like nothing of the page, and posts nowhere. */
const ALLOWED = {
  ALLOWED_TAGS: [
    ...["h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "del"],
    ...["ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "a"],
  ],
  ALLOWED_ATTR: ["href"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

/** HTML in Markdown is shown as the text that it is. */
const markdown = new Marked({
  gfm: true,
  async: false,
  renderer: { html: ({ text }) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;") },
});

/** Markdown of strangers: sanitised, and each link shows where it leads. */
export default function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => {
    const fragment = DOMPurify.sanitize(markdown.parse(text, { async: false }), {
      ...ALLOWED,
      RETURN_DOM_FRAGMENT: true,
    });
    for (const link of fragment.querySelectorAll("a")) {
      link.rel = "noopener noreferrer nofollow";
      link.target = "_blank";
      const target = link.getAttribute("href");
      if (target !== null && link.textContent !== target) link.append(` (${target})`);
    }
    const place = document.createElement("div");
    place.append(fragment);
    return place.innerHTML;
  }, [text]);
  return <div dangerouslySetInnerHTML={{ __html: html }} />;
}
