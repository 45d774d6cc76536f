import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../../helm/rockbot/files/dashboards");

/** What is used here of Grafana's dashboards. */
export interface Dashboard {
  readonly file: string;
  readonly text: string;
  readonly uid: string;
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

export async function readDashboards(): Promise<readonly Dashboard[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".json")).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(FOLDER, file), "utf8");
      return { ...(JSON.parse(text) as Omit<Dashboard, "file" | "text">), file, text };
    }),
  );
}

/** The queries as Grafana sends them while all services are chosen, by dashboard and panel. */
export const queriesOf = ({ file, panels }: Dashboard): readonly { readonly where: string; readonly expr: string }[] =>
  panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      where: `${file}: ${title}`,
      expr: expr.replaceAll("$job", ".+").replaceAll("$__rate_interval", "1m"),
    })),
  );
