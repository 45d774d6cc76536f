import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { expect, test } from "vitest";
import { bundleService } from "../bundle/bundle-service.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { bundledPackages } from "./bundled-packages.ts";
import { licenceTexts } from "./licence-texts.ts";

const root = dirname(dirname(import.meta.dirname));

interface Bill {
  readonly components: readonly { readonly purl: string; readonly hashes?: readonly { readonly content: string }[] }[];
}

test("the bill of materials of a service is CycloneDX, names each package that the bundle holds, and has the same bytes each time, and their licences come along", async () => {
  const { metafile } = await bundleService(root, "system-info-mcp");
  const packages = await bundledPackages(root, metafile);
  const system = [
    { name: "libc6", version: "2.36-9+deb12u13", purl: "pkg:deb/debian/libc6@2.36-9%2Bdeb12u13?arch=amd64" },
  ];
  const bill = billOfMaterials({ service: "system-info-mcp", version: "1.2.3", packages, system });

  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(bill)).toBeNull();
  const { components } = JSON.parse(bill) as Bill;
  const purls = components.map(({ purl }) => decodeURIComponent(purl));
  expect(purls).toContain("pkg:deb/debian/libc6@2.36-9+deb12u13?arch=amd64");
  expect(
    components.filter(({ purl, hashes = [] }) => purl.startsWith("pkg:npm/") && hashes[0]?.content.length !== 128),
  ).toEqual([]);
  for (const name of ["hono", "pino", "prom-client", "@grpc/grpc-js", "zod"])
    expect(purls).toContainEqual(expect.stringContaining(`pkg:npm/${name}@`));
  expect(purls.filter((purl) => /esbuild|vitest|typescript/.test(purl))).toEqual([]);
  expect(
    billOfMaterials({ service: "system-info-mcp", version: "1.2.3", packages: packages.toReversed(), system }),
  ).toBe(bill);

  const texts = await licenceTexts(root, packages);
  for (const { name, version } of packages) expect(texts).toContain(`${name} ${version} (`);
  for (const words of ["Yusuke Wada", "Apache License", "THE SOFTWARE IS PROVIDED"]) expect(texts).toContain(words);
  expect(texts.split("brings no text").length - 1).toBeLessThan(packages.length / 5);
});

test("the version in the Dockerfiles' labels is the version of the repository", async () => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
  for (const file of ["Dockerfile", "Dockerfile.sandbox"])
    expect(await readFile(join(root, file), "utf8")).toContain(`\nARG VERSION=${version}\n`);
});
