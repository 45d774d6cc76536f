import { isRecord } from "@rockbot/base";
import { ToolError, ToolErrorCode, valueAt } from "@rockbot/contracts";
import { type GithubApi, type GithubDocument, malformedAnswer } from "./github-api.ts";
import type { GithubPage } from "./github-page.ts";
import type { GithubPlace } from "./github-place.ts";
import { countAt, labelled, lineAt, listAt, loginAt, markdownAt, timeAt } from "./github-text.ts";

/** The API gives at most so many on a page. */
const PER_PAGE = 100;
/** The most pages of comments, and of remarks on the code. A longer conversation says that it has more. */
const MAX_PAGES = 3;

type Conversation = Extract<GithubPlace, { kind: "issue" | "pull" }>;

/**
 * An issue or a pull request with its conversation, by either one's address; undefined if there is none, or none that
 * may be seen.
 */
export async function readConversation(
  place: Conversation,
  api: GithubApi,
  signal: AbortSignal,
): Promise<GithubPage | undefined> {
  const { owner, repo, number } = place;
  const repository = `/repos/${owner}/${repo}`;
  const pull = place.kind === "pull" ? await api.json(`${repository}/pulls/${number}`, signal) : undefined;
  const issue = pull ?? (await api.json(`${repository}/issues/${number}`, signal));
  if (issue === undefined) return undefined;
  if (!isRecord(issue.value) || !("title" in issue.value)) throw malformedAnswer();
  // For the API each pull request is an issue, too.
  if (place.kind === "issue" && valueAt(issue.value, "/pull_request") != null)
    return await readConversation({ ...place, kind: "pull" }, api, signal);
  const kind = pull === undefined ? "issue" : "pull";

  const { value } = issue;
  const title = `${kind === "pull" ? "PR" : "Issue"} #${number}: ${lineAt(value, "/title")} [${owner}/${repo}]`;
  const reviews = kind === "pull" ? await entries(`${repository}/pulls/${number}/reviews`, api, signal) : NONE;
  const comments =
    countAt(value, "/comments") > 0 ? await entries(`${repository}/issues/${number}/comments`, api, signal) : NONE;
  const remarks =
    countAt(value, "/review_comments") > 0
      ? await entries(`${repository}/pulls/${number}/comments`, api, signal)
      : NONE;
  const facts = [
    ["Repository", `${owner}/${repo}`],
    ["State", stateOf(value)],
    ["Author", loginAt(value, "/user")],
    ["Created", timeAt(value, "/created_at")],
    ["Updated", timeAt(value, "/updated_at")],
    [
      "Labels",
      namesOf(listAt(value, "/labels"), (label) => lineAt(label, "/name", 100) || lineAt({ label }, "/label", 100)),
    ],
    ["Milestone", lineAt(value, "/milestone/title")],
    ["Assignees", namesOf(listAt(value, "/assignees"), (user) => loginAt(user, ""))],
    ...(kind === "pull" ? pullFacts(value, reviews.items) : []),
    ["URL", lineAt(value, "/html_url", 500)],
  ] as const;
  const parts = [
    labelled(facts),
    "---",
    markdownAt(value, "/body") || "(No description.)",
    ...section("Reviews", withWords(reviews), reviewHead),
    ...section("Comments", comments, (comment) => authorAndTime(comment, "/created_at")),
    ...section("Remarks on the code", remarks, remarkHead),
  ];
  return { title, markdown: parts.join("\n\n") };
}

interface Entries {
  readonly items: readonly unknown[];
  readonly hasMore: boolean;
}

const NONE: Entries = { items: [], hasMore: false };

/**
 * The first pages of a list, up to one that is larger than may be read: what came before it is of use. Their number is
 * counted here: an address that the answer names gets no token.
 */
async function entries(path: string, api: GithubApi, signal: AbortSignal): Promise<Entries> {
  const items: unknown[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const document = await unlessTooLarge(api.json(`${path}?per_page=${PER_PAGE}&page=${page}`, signal));
    if (document === "too large") break;
    if (document === undefined) return { items, hasMore: false };
    if (!Array.isArray(document.value)) throw malformedAnswer();
    items.push(...document.value.slice(0, PER_PAGE));
    if (!document.hasNext) return { items, hasMore: false };
  }
  return { items, hasMore: true };
}

/** A verdict alone stands among the facts. */
function withWords({ items, hasMore }: Entries): Entries {
  const told = items.filter((review) => markdownAt(review, "/body") !== "");
  return { items: told, hasMore: hasMore && (told.length > 0 || items.length === 0) };
}

async function unlessTooLarge(
  asked: Promise<GithubDocument | undefined>,
): Promise<GithubDocument | undefined | "too large"> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ToolError && error.code === ToolErrorCode.TooLarge) return "too large";
    throw error;
  }
}

function section(name: string, { items, hasMore }: Entries, headOf: (item: unknown) => string): string[] {
  if (items.length === 0 && !hasMore) return [];
  const rest = hasMore
    ? [items.length === 0 ? "(They are too large to be read here.)" : "(There are more: these are the first.)"]
    : [];
  return [
    `## ${name}${items.length === 0 ? "" : ` (${items.length}${hasMore ? " and more" : ""})`}`,
    ...items.flatMap((item) => [`### ${headOf(item)}`, markdownAt(item, "/body") || "(Empty.)"]),
    ...rest,
  ];
}

function stateOf(value: unknown): string {
  const state = lineAt(value, "/state", 20);
  if (valueAt(value, "/merged") === true || timeAt(value, "/merged_at") !== "") return "merged";
  const more = [
    valueAt(value, "/draft") === true ? "draft" : "",
    lineAt(value, "/state_reason", 40).replaceAll("_", " "),
    valueAt(value, "/locked") === true ? "locked" : "",
  ];
  const said = more.filter((it) => it !== "").join(", ");
  return said === "" ? state : `${state} (${said})`;
}

function pullFacts(value: unknown, reviews: readonly unknown[]): (readonly [string, string])[] {
  const files = countAt(value, "/changed_files");
  return [
    ["Branch", `${lineAt(value, "/head/label") || lineAt(value, "/head/ref")} → ${lineAt(value, "/base/ref")}`],
    ["Review", reviewState(reviews, listAt(value, "/requested_reviewers"))],
    [
      "Changes",
      `${files} ${files === 1 ? "file" : "files"}, +${countAt(value, "/additions")} −${countAt(value, "/deletions")}, ${countAt(value, "/commits")} commits`,
    ],
  ];
}

const verdicts: Readonly<Record<string, string>> = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "changes requested",
  DISMISSED: "dismissed",
  COMMENTED: "commented",
};

/** The last verdict of each reviewer: a comment after it does not take it back. */
function reviewState(reviews: readonly unknown[], requested: readonly unknown[]): string {
  const last = new Map<string, string>();
  for (const review of reviews) {
    const state = lineAt(review, "/state", 40);
    const reviewer = loginAt(review, "/user");
    if (Object.hasOwn(verdicts, state) && (state !== "COMMENTED" || !last.has(reviewer)))
      last.set(reviewer, verdicts[state] as string);
  }
  const waiting = requested.map((user) => `${loginAt(user, "")}: asked`);
  return [...[...last].map(([reviewer, verdict]) => `${reviewer}: ${verdict}`), ...waiting].join(", ") || "none yet";
}

const authorAndTime = (item: unknown, time: string): string =>
  [loginAt(item, "/user"), timeAt(item, time)].filter((part) => part !== "").join(", ");

const reviewHead = (review: unknown): string =>
  `${authorAndTime(review, "/submitted_at")}: ${verdicts[lineAt(review, "/state", 40)] ?? "reviewed"}`;

function remarkHead(remark: unknown): string {
  const line = countAt(remark, "/line") || countAt(remark, "/original_line");
  return `${authorAndTime(remark, "/created_at")}, on ${lineAt(remark, "/path")}${line === 0 ? "" : `:${line}`}`;
}

const namesOf = (items: readonly unknown[], nameOf: (item: unknown) => string): string =>
  items
    .slice(0, 100)
    .map(nameOf)
    .filter((name) => name !== "")
    .join(", ");
