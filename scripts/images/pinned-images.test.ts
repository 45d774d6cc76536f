import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readImages } from "./pinned-images.ts";

const root = dirname(dirname(import.meta.dirname));
const read = (file: string) => readFile(join(root, file), "utf8");

test("every image of others that the Dockerfiles, compose and the chart name is that of docker/images.env, which takes no digest cut short", async () => {
  const images = Object.entries(readImages(await read("docker/images.env"))).map(([name, image]) => [
    name,
    image.replace(/@.*/, ""),
  ]);
  const compose = await read("docker-compose.yml");
  const defaults = (await Promise.all(["Dockerfile", "Dockerfile.sandbox"].map(read))).flatMap((text) => [
    ...text.matchAll(/^ARG (\w+_IMAGE)=(\S+)$/gm),
  ]);
  const variables = [...compose.matchAll(/\$\{(ROCKBOT_\w+_IMAGE):-([^}]+)\}/g)];
  const named = [...defaults, ...variables].map(([, name, image]) => [name, image]);
  expect(images).toEqual(expect.arrayContaining(named));
  expect(named).toEqual(expect.arrayContaining(images));
  expect(compose.match(/^ +image: (?!rockbot\/|\$\{|\*).*/gm)).toBeNull();

  const { broker, redis } = parse(await read("helm/rockbot/values.yaml")) as Record<
    string,
    { image: { repository: string; tag: string } }
  >;
  const charted = [broker, redis].map((part) => `${part?.image.repository}:${part?.image.tag}`);
  expect(images.map(([, image]) => image)).toEqual(expect.arrayContaining(charted));
  expect(() => readImages("REDIS=redis:8@sha256:short")).toThrow("REDIS=redis:8@sha256:short");
});
