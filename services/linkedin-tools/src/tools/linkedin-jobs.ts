import { saidBy, ToolError, type ToolLinkedinJobsInput, type ToolLinkedinJobsOutput, tools } from "@rockbot/contracts";
import type { ExtractedRecord, PageConverter } from "@rockbot/page";
import { defineTool, type Tool } from "@rockbot/tools";
import { jobIdOf, jobUrl } from "../site/job-id.ts";
import type { LinkedinSite } from "../site/linkedin-site.ts";
import { pageChanged } from "../site/page-changed.ts";
import { selectors } from "../site/selectors.ts";

type Job = ToolLinkedinJobsOutput["jobs"][number];

/** The guest pages give so many at a time. */
const PER_PAGE = 10;

/** `linkedin_jobs`: one page of what LinkedIn's public job search finds. */
export function linkedinJobs({
  site,
  converter,
}: {
  readonly site: LinkedinSite;
  readonly converter: PageConverter;
}): Tool {
  return defineTool(tools.linkedinJobs, async (input, { signal, progress }) => {
    progress({ message: "Searching for jobs" });
    const { page = 1 } = input;
    let isRefused = false;
    const html = await site
      .read(`/jobs-guest/jobs/api/seeMoreJobPostings/search?${queryOf(input, page)}`, signal)
      .catch((error: unknown) => {
        isRefused = page > 1 && isPastTheEnd(error);
        if (isRefused) return "";
        throw error;
      });
    const records =
      html.trim() === "" ? [] : await converter.extract(html, selectors.results, { url: site.baseUrl, signal });
    const jobs = records.flatMap((record) => jobOf(record, site.baseUrl));
    if (jobs.length === 0 && (records.length > 0 || !(await isWithoutResults(html))))
      throw pageChanged("the search", ["title", "link"]);
    return {
      content: isRefused ? `${contentOf(jobs, page)} ${REFUSED}` : contentOf(jobs, page),
      structured: { jobs, page },
      trust: saidBy(site.baseUrl),
    };

    /**
     * LinkedIn answers with an empty page, or with its own words for no results. For any other page the reader is
     * wrong.
     */
    async function isWithoutResults(page: string): Promise<boolean> {
      if (page.trim() === "" || (await converter.text(page, { signal })) === "") return true;
      return (await converter.extract(page, selectors.noResults, { url: site.baseUrl, signal })).length > 0;
    }
  });
}

/** A search that LinkedIn does not take looks the same. */
const REFUSED =
  "LinkedIn answers with status 400, as it does behind the last page. Page 1 tells whether it takes this search.";

/**
 * Far behind the last page LinkedIn answers with status 400. On the first page that means that it does not take the
 * search.
 */
const isPastTheEnd = (error: unknown): boolean => error instanceof ToolError && error.details?.["status"] === 400;

const DATE_POSTED: Readonly<Record<string, string | undefined>> = {
  past_24_hours: "r86400",
  past_week: "r604800",
  past_month: "r2592000",
};
const JOB_TYPES = {
  full_time: "F",
  part_time: "P",
  contract: "C",
  temporary: "T",
  internship: "I",
  volunteer: "V",
  other: "O",
} as const;
const LEVELS = { internship: "1", entry: "2", associate: "3", mid_senior: "4", director: "5", executive: "6" } as const;
const WAYS = { on_site: "1", remote: "2", hybrid: "3" } as const;

/** The search page's own parameters. */
function queryOf(input: ToolLinkedinJobsInput, page: number): URLSearchParams {
  const { keywords, location, date_posted = "any", job_type = [], experience = [], remote = [], sort } = input;
  const wanted: Readonly<Record<string, string | undefined>> = {
    keywords,
    location,
    f_TPR: DATE_POSTED[date_posted],
    f_JT: job_type.map((type) => JOB_TYPES[type]).join(","),
    f_E: experience.map((level) => LEVELS[level]).join(","),
    f_WT: remote.map((way) => WAYS[way]).join(","),
    sortBy: sort === undefined ? undefined : sort === "recent" ? "DD" : "R",
    start: String((page - 1) * PER_PAGE),
  };
  return new URLSearchParams(
    Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""),
  );
}

function jobOf(
  { urn = "", link = "", title, company, location, posted, salary }: ExtractedRecord,
  baseUrl: string,
): Job[] {
  const id = jobIdOf(urn) ?? jobIdOf(link);
  if (id === undefined || title === undefined) return [];
  return [{ id, title, ...given({ company, location, posted, salary }), url: jobUrl(id, baseUrl) }];
}

/** Without what is undefined. */
const given = <T extends object>(record: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };

function contentOf(jobs: readonly Job[], page: number): string {
  if (jobs.length === 0) return page === 1 ? "No jobs found." : `No jobs found on page ${page}.`;
  const lines = jobs.map(({ title, company, location, posted, salary, url }, i) => {
    const facts = [company, location, posted, salary].filter((fact) => fact !== undefined);
    return `${(page - 1) * PER_PAGE + i + 1}. ${[title, ...facts].join(" · ")}\n   ${url}`;
  });
  return lines.join("\n");
}
