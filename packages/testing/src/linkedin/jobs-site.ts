import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A posting of the site. */
export interface SitePosting {
  readonly id: string;
  readonly title: string;
  readonly company: string;
  readonly location: string;
  /** A date. */
  readonly posted: string;
  readonly salary?: string;
  /** HTML. */
  readonly description: string;
  readonly criteria?: Readonly<Record<string, string>>;
}

/** LinkedIn's guest pages for jobs, on this machine. */
export interface LinkedinJobsSite extends AsyncDisposable {
  readonly url: string;
  /** Requests for pages, with their times on the clock of `performance.now()`. */
  readonly requests: readonly {
    readonly path: string;
    readonly query: URLSearchParams;
    readonly headers: IncomingHttpHeaders;
    readonly at: number;
  }[];
  postings: readonly SitePosting[];
  /** The body of `/robots.txt`; undefined if there is none. */
  robots: string | undefined;
  /** Answers of the next requests in place of pages, first come first served. */
  readonly faults: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }[];
}

const SEARCH = "/jobs-guest/jobs/api/seeMoreJobPostings/search";
const POSTING = /^\/jobs-guest\/jobs\/api\/jobPosting\/(\d+)$/;
const PARAMETERS: Readonly<Record<string, RegExp>> = {
  keywords: /./,
  location: /./,
  f_TPR: /^r\d+$/,
  f_JT: /^[FPCTIVO](,[FPCTIVO])*$/,
  f_E: /^[1-6](,[1-6])*$/,
  f_WT: /^[1-3](,[1-3])*$/,
  sortBy: /^(R|DD)$/,
  start: /^\d{1,4}$/,
};

/**
 * A local server of the guest pages: the search gives ten list items from `start` on, in the markup of today's pages,
 * and an empty body behind the last. A parameter or a value that the site does not know is answered with status 400.
 */
export async function startLinkedinJobsSite(): Promise<LinkedinJobsSite> {
  const requests: { path: string; query: URLSearchParams; headers: IncomingHttpHeaders; at: number }[] = [];
  const faults: LinkedinJobsSite["faults"] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    requests.push({ path: pathname, query: searchParams, headers: request.headers, at: performance.now() });
    const html = (status: number, body: string) =>
      void response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(body);
    if (pathname === "/robots.txt") return html(site.robots === undefined ? 404 : 200, site.robots ?? "");
    const fault = faults.shift();
    if (fault !== undefined)
      return void response
        .writeHead(fault.status, { "content-type": "text/html", ...fault.headers })
        .end(fault.body ?? "");
    if (pathname === SEARCH) {
      const isKnown = [...searchParams].every(([name, value]) => PARAMETERS[name]?.test(value) === true);
      if (!isKnown) return html(400, "");
      const start = Number(searchParams.get("start") ?? 0);
      return html(
        200,
        site.postings
          .slice(start, start + 10)
          .map(listItem)
          .join("\n"),
      );
    }
    const posting = site.postings.find(({ id }) => id === POSTING.exec(pathname)?.[1]);
    return posting === undefined ? html(404, "") : html(200, postingPage(posting));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const site: LinkedinJobsSite = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    postings: [],
    robots: undefined,
    faults,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return site;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const listItem = ({ id, title, company, location, posted, salary }: SitePosting): string => `<li>
  <div class="base-card relative base-search-card job-search-card" data-entity-urn="urn:li:jobPosting:${id}" data-row="1">
    <a class="base-card__full-link absolute" href="https://de.linkedin.com/jobs/view/some-title-at-some-company-${id}?position=1&amp;pageNum=0"><span class="sr-only">${escaped(title)}</span></a>
    <div class="base-search-card__info">
      <h3 class="base-search-card__title">
        ${escaped(title)}
      </h3>
      <h4 class="base-search-card__subtitle"><a class="hidden-nested-link" href="#">${escaped(company)}</a></h4>
      <div class="base-search-card__metadata"><span class="job-search-card__location">${escaped(location)}</span>
        ${salary === undefined ? "" : `<span class="job-search-card__salary-info">${escaped(salary)}</span>`}
        <time class="job-search-card__listdate" datetime="${posted}">2 weeks ago</time></div>
    </div>
  </div>
</li>`;

const postingPage = ({
  title,
  company,
  location,
  description,
  salary,
  criteria = {},
}: SitePosting): string => `<!DOCTYPE html><html><body>
<section class="top-card-layout"><h2 class="top-card-layout__title topcard__title">${escaped(title)}</h2>
<h4><span class="topcard__flavor"><a class="topcard__org-name-link" href="#">${escaped(company)}</a></span><span class="topcard__flavor topcard__flavor--bullet">${escaped(location)}</span></h4>
<span class="posted-time-ago__text">2 weeks ago</span><figcaption class="num-applicants__caption">Over 200 applicants</figcaption></section>
${salary === undefined ? "" : `<div class="compensation__salary">${escaped(salary)}</div>`}
<div class="description__text description__text--rich"><section class="show-more-less-html"><div class="show-more-less-html__markup">${description}</div><button>Show more</button></section></div>
<ul class="description__job-criteria-list">${Object.entries(criteria)
  .map(
    ([name, value]) =>
      `<li class="description__job-criteria-item"><h3 class="description__job-criteria-subheader"> ${escaped(name)} </h3><span class="description__job-criteria-text"> ${escaped(value)} </span></li>`,
  )
  .join("")}</ul></body></html>`;
