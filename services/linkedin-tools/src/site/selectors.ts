import type { ExtractRule } from "@rockbot/page";

/** Where everything stands on LinkedIn's guest pages. When LinkedIn changes them, this is the one file to mend. */
export const selectors = {
  /** The selectors of `/jobs-guest/jobs/api/seeMoreJobPostings/search`: a list item for each job. */
  results: {
    each: ".base-search-card, .job-search-card",
    fields: {
      urn: { take: { attribute: "data-entity-urn" } },
      link: { selector: "a.base-card__full-link, a[href*='/jobs/view/']", take: { attribute: "href" } },
      title: { selector: ".base-search-card__title" },
      company: { selector: ".base-search-card__subtitle" },
      location: { selector: ".job-search-card__location" },
      posted: { selector: "time", take: { attribute: "datetime" } },
      salary: { selector: ".job-search-card__salary-info" },
    },
  },
  /** What the site says in the place of results, where it says anything. */
  noResults: {
    each: ".no-results, .jobs-search-no-results, [class*='no-results__']",
    fields: { text: { take: "text" } },
  },
  /** The selectors of `/jobs-guest/jobs/api/jobPosting/{id}`. */
  posting: {
    each: "body, html",
    fields: {
      title: { selector: ".top-card-layout__title, .topcard__title" },
      company: { selector: ".topcard__org-name-link, .topcard__flavor" },
      location: { selector: ".topcard__flavor--bullet" },
      posted: { selector: ".posted-time-ago__text" },
      applicants: { selector: ".num-applicants__caption, .num-applicants__figure" },
      salary: { selector: ".compensation__salary" },
      description: {
        selector: ".description__text .show-more-less-html__markup, .description__text, .show-more-less-html__markup",
        take: "text",
      },
    },
  },
  criteria: {
    each: ".description__job-criteria-item",
    fields: {
      name: { selector: ".description__job-criteria-subheader" },
      value: { selector: ".description__job-criteria-text" },
    },
  },
} satisfies Record<string, ExtractRule>;
