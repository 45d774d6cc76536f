import { saidBy, ToolError, ToolErrorCode, type ToolLinkedinJobDetailOutput, tools } from "@rockbot/contracts";
import type { ExtractedRecord, PageConverter } from "@rockbot/page";
import { defineTool, type Tool } from "@rockbot/tools";
import { jobIdOf, jobUrl } from "../site/job-id.ts";
import type { LinkedinSite } from "../site/linkedin-site.ts";
import { pageChanged } from "../site/page-changed.ts";
import { selectors } from "../site/selectors.ts";

/** `linkedin_job_detail`: one public posting with its description. */
export function linkedinJobDetail({
  site,
  converter,
}: {
  readonly site: LinkedinSite;
  readonly converter: PageConverter;
}): Tool {
  return defineTool(tools.linkedinJobDetail, async ({ url: requested }, { signal, progress }) => {
    const id = idOf(requested, site.baseUrl);
    progress({ message: "Reading the posting" });
    const html = await site.read(`/jobs-guest/jobs/api/jobPosting/${id}`, signal);
    const url = jobUrl(id, site.baseUrl);
    const [found = {}] = await converter.extract(html, selectors.posting, { url, signal });
    const criteria = await converter.extract(html, selectors.criteria, { url, signal });
    const { title, description, ...facts } = found;
    if (title === undefined || description === undefined)
      throw pageChanged("the posting", title === undefined ? ["the title"] : ["the description"]);
    const structured: ToolLinkedinJobDetailOutput = { id, title, ...facts, criteria: criteriaOf(criteria), url };
    return { content: contentOf(structured, description), structured, trust: saidBy(url) };
  });
}

/** @throws {ToolError} `invalid_arguments` unless it is the address of a posting on LinkedIn, or its number */
function idOf(text: string, baseUrl: string): string {
  const url = URL.parse(text);
  const isSite = url === null || url.host === new URL(baseUrl).host || /(^|\.)linkedin\.com$/.test(url.hostname);
  const id = isSite ? jobIdOf(text) : undefined;
  if (id !== undefined) return id;
  throw new ToolError(
    ToolErrorCode.InvalidArguments,
    `Cannot read ${JSON.stringify(text.slice(0, 200))}: it is not the address of a job posting on LinkedIn, such as https://www.linkedin.com/jobs/view/4012345678.`,
  );
}

const criteriaOf = (records: readonly ExtractedRecord[]): Record<string, string> =>
  Object.fromEntries(
    records.flatMap(({ name, value }) => (name === undefined || value === undefined ? [] : [[name, value] as const])),
  );

function contentOf(
  { title, company, location, posted, applicants, salary, criteria = {}, url }: ToolLinkedinJobDetailOutput,
  description: string,
): string {
  const facts = [company, location, posted, applicants, salary].filter((fact) => fact !== undefined).join(" · ");
  const lines = Object.entries(criteria).map(([name, value]) => `- ${name}: ${value}`);
  return [`# ${title}`, facts, url, lines.join("\n"), description].filter((part) => part !== "").join("\n\n");
}
