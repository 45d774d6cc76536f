/** Elements whose text stands on lines of its own. */
export const blockNames: ReadonlySet<string> = new Set([
  ...["address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt"],
  ...["fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html"],
  ...["legend", "li", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "tbody"],
  ...["td", "tfoot", "th", "thead", "tr", "ul"],
]);

/** Elements that hold nothing, and yet are something. */
export const voidNames: ReadonlySet<string> = new Set([
  ...["area", "base", "br", "col", "command", "embed", "hr", "img", "input", "keygen", "link", "meta", "param", "source", "track", "wbr"],
]);
