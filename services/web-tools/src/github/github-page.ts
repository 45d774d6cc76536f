/** What a place of GitHub holds, as a page of markdown. */
export interface GithubPage {
  readonly title: string;
  readonly markdown: string;
}
