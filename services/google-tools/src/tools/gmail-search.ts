import { isRecord } from "@rockbot/base";
import { saidBy, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { GoogleApi } from "../api/google-api.ts";
import { type MailSummary, mailSummary, SUMMARY_HEADERS } from "../mail/mail-summary.ts";

/** Mails that are asked for at once: Gmail counts requests by the second. */
const AT_ONCE = 5;

/** `gmail_search`: a page of mails that a query of Gmail's syntax finds. */
export function gmailSearch(api: GoogleApi): Tool {
  return defineTool(
    tools.gmailSearch,
    async ({ query, max_results = 10, page_token }, { caller, signal, progress }) => {
      const gmail = await api.of(caller, "gmail");
      const what = "search the mail";
      progress({ message: "Searching the mail" });
      const found = await gmail.ask([...MESSAGES], {
        query: { q: query, maxResults: String(max_results), pageToken: page_token },
        signal,
        what,
      });
      const ids = (Array.isArray(found["messages"]) ? found["messages"] : []).flatMap((item) =>
        isRecord(item) && typeof item["id"] === "string" ? [item["id"]] : [],
      );
      const messages: MailSummary[] = [];
      for (let i = 0; i < ids.length; i += AT_ONCE) {
        const some = ids.slice(i, i + AT_ONCE).map((id) =>
          gmail.ask([...MESSAGES, id], {
            query: { format: "metadata", metadataHeaders: SUMMARY_HEADERS },
            signal,
            what,
          }),
        );
        messages.push(...(await Promise.all(some)).map((mail) => mailSummary(mail)));
      }
      const next = typeof found["nextPageToken"] === "string" ? found["nextPageToken"] : undefined;
      return {
        content: contentOf(gmail.account, messages, next),
        structured: { account: gmail.account, messages, ...(next === undefined ? {} : { next_page_token: next }) },
        trust: saidBy(gmail.origin),
      };
    },
  );
}

/** The path of a mailbox. */
export const MESSAGES = ["gmail", "v1", "users", "me", "messages"] as const;

function contentOf(account: string, messages: readonly MailSummary[], next: string | undefined): string {
  if (messages.length === 0) return `No mail of ${account} is found.`;
  const lines = messages.map(({ id, from, subject, date, snippet, labels }, i) => {
    const unread = labels.includes("UNREAD") ? ", unread" : "";
    return `${i + 1}. ${subject || "(no subject)"} (id ${id}${unread})\n   From ${from}, ${date}\n   ${snippet}`;
  });
  return [
    `Mail of ${account}:`,
    "",
    ...lines,
    ...(next === undefined ? [] : ["", `There is more: page_token ${next}`]),
  ].join("\n");
}
