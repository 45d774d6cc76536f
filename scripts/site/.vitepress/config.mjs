import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { withMermaid } from "vitepress-plugin-mermaid";

const root = dirname(dirname(dirname(import.meta.dirname)));
/** Where links to files that are no pages lead, such as https://github.com/OWNER/NAME; without it they are text. */
const repository = process.env.SITE_REPOSITORY_URL;

/** The pages in the order of docs/README.md, which is the one list of them. */
function sidebar() {
  const groups = [];
  let items = [];
  for (const line of readFileSync(join(root, "docs/README.md"), "utf8").split("\n")) {
    const [, level, title] = /^(##|###) (.+)$/.exec(line) ?? [];
    if (title === undefined)
      for (const [, text, path] of line.matchAll(/\[([^\]]+)\]\(([\w/-]+)\.md\)/g))
        items.push({ text, link: `/${path}` });
    else {
      items = [];
      (level === "##" ? groups : groups.at(-1).items).push({ text: title, items });
    }
  }
  return groups;
}

/** Where a markdown file of the repository is on the site, as `rewrites` below says. */
const placeOf = (file) =>
  `/${file
    .replace(/^docs\/(?!README)/, "")
    .replace(/^docs\/README\.md$/, "contents.md")
    .replace(/^README\.md$/, "")}`;

/**
 * Makes links to pages independent of the folders of the repository. Links to its other files lead to `repository`, or
 * are text.
 */
function linkFiles(md) {
  md.core.ruler.push("link-files", ({ tokens, env }) => {
    const folder = posix.dirname(posix.relative(root, env.realPath ?? env.path));
    for (const token of tokens) if (token.children !== null) token.children = token.children.filter(linkFile(folder));
  });
}

function linkFile(folder) {
  const isDropped = [];
  return (token) => {
    if (token.type === "link_close") return !isDropped.pop();
    if (token.type !== "link_open") return true;
    const [path, anchor] = (token.attrGet("href") ?? "").split("#");
    const isElsewhere = path === "" || /^[a-z]+:/i.test(path);
    const file = posix.join(folder, path);
    const isPage = /^(?:docs\/.+|[A-Z]+)\.md$/.test(file);
    isDropped.push(!isElsewhere && !isPage && repository === undefined);
    if (!isElsewhere)
      token.attrSet(
        "href",
        (isPage ? placeOf(file) : `${repository}/blob/main/${file}`) + (anchor === undefined ? "" : `#${anchor}`),
      );
    return !isDropped.at(-1);
  };
}

export default withMermaid({
  title: "RockBot",
  description: "Runs the tools of LLM agents outside the agent, behind a message bus",
  srcDir: root,
  srcExclude: ["{packages,services,scripts,test,helm,examples}/**", "CONTRIBUTORS.md", ".github/**"],
  outDir: join(root, "dist/site"),
  cleanUrls: true,
  rewrites: { "README.md": "index.md", "docs/README.md": "contents.md", "docs/:path(.*)": ":path" },
  markdown: { config: linkFiles },
  // Pages show references of wisps, {{/steps/…}}, which are none of Vue's.
  vue: { template: { compilerOptions: { delimiters: ["\u0001", "\u0002"] } } },
  themeConfig: {
    nav: [
      { text: "Quickstart", link: "/start/quickstart" },
      { text: "All pages", link: "/contents" },
      { text: "Architecture", link: "/ARCHITECTURE" },
      { text: "Changelog", link: "/CHANGELOG" },
    ],
    sidebar: sidebar(),
    search: { provider: "local" },
    outline: [2, 3],
  },
});
