// The map of results: outlines of the shapes in the query, and colours by a field.
import type { Locator } from "@playwright/test";
import { expect, test } from "./studio";

const PLACES = Object.fromEntries(
  [
    ["Vienna", "AT", 48.2, 16.37, 5],
    ["Graz", "AT", 47.07, 15.44, 3],
    ["Brno", "CZ", 49.2, 16.61, 4],
    ["Oslo", "NO", 59.91, 10.75, 6],
  ].map(([Name, Country, Lat, Lng, Size], at) => [
    `places/${at}`,
    { Name, Country, Size, At: { Lat, Lng }, "@metadata": { "@collection": "Places" } },
  ]),
);

const FIELD = "spatial.point(At.Lat, At.Lng)";
const placed = (database: string, query: string, parameters?: object) =>
  `/databases/${database}/query?q=${encodeURIComponent(query)}&as=map` +
  (parameters ? `&p=${encodeURIComponent(JSON.stringify(parameters))}` : "");

/** How many pixels of the canvas have the colour that a variable of the theme names. */
const pixelsOf = (map: Locator, variable: string) =>
  map.evaluate((element, name) => {
    const canvas = element as HTMLCanvasElement;
    const probe = document.createElement("canvas").getContext("2d")!;
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d", { willReadFrequently: true })!;
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const isNear = (one: number, other: number) => Math.abs(one - other) < 30;
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (isNear(data[at]!, red!) && isNear(data[at + 1]!, green!) && isNear(data[at + 2]!, blue!)) count++;
    return count;
  }, variable);

test("circles and polygons of the query are drawn as outlines", async ({ page, studio }) => {
  await studio.database("Outlined", PLACES);
  await studio.open(placed("Outlined", "from Places"));
  const map = page.getByRole("img", { name: /^Map with/ });
  await expect(map).toHaveAccessibleName(/^Map with 4 places\. /);
  expect(await pixelsOf(map, "--map-shape")).toBe(0);
  const query = `from Places where spatial.within(${FIELD}, spatial.circle($km, 48.2, 16.37))`;
  await studio.open(placed("Outlined", query, { km: 200 }));
  await expect(map).toHaveAccessibleName(/^Map with 3 places and 1 outline of the query\. /);
  await expect.poll(() => pixelsOf(map, "--map-shape")).toBeGreaterThan(200);
  await studio.open(
    placed("Outlined", `from Places where spatial.within(${FIELD}, spatial.wkt('POLYGON((10 59, 11 59, 11 60, 10 60, 10 59))'))`),
  );
  await expect(map).toHaveAccessibleName(/^Map with 1 place and 1 outline of the query\. /);
  await expect(page.getByText("1 place and 1 outline of the query · land: Natural Earth")).toBeVisible();
  await expect.poll(() => pixelsOf(map, "--map-shape")).toBeGreaterThan(200);
});

test("places are coloured by a text or a number, with a legend", async ({ page, studio }) => {
  await studio.database("Coloured", PLACES);
  await studio.open(placed("Coloured", "from Places"));
  const map = page.getByRole("img", { name: /^Map with 4 places/ });
  await expect(map).toBeVisible();
  expect(await pixelsOf(map, "--map-category-2")).toBe(0);
  const by = page.getByRole("combobox", { name: "Colour by" });
  await by.click();
  // Each name is another one, but they are few.
  await expect(page.getByRole("option")).toHaveText(["Nothing", "Name", "Country", "Size", "At.Lat", "At.Lng"]);
  await page.getByRole("option", { name: "Country" }).click();
  const legend = page.getByRole("list", { name: "Colours of Country" });
  await expect(legend.getByRole("listitem")).toHaveText(["AT2", "CZ1", "NO1"]);
  for (const at of [1, 2, 3]) await expect.poll(() => pixelsOf(map, `--map-category-${at}`)).toBeGreaterThan(0);
  await studio.isAccessible();
  // By keyboard, and it is kept over a reload.
  await by.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const sizes = page.getByRole("list", { name: "Colours of Size" });
  await expect(sizes.getByRole("listitem")).toHaveText(["31", "41", "51", "61"]);
  await page.reload();
  await expect(sizes).toBeVisible();
  await expect.poll(() => pixelsOf(map, "--map-step-5")).toBeGreaterThan(0);
  const box = (await map.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await by.click();
  await page.getByRole("option", { name: "Nothing" }).click();
  await expect(sizes).toBeHidden();
});

test("the legend has room on a narrow dark screen", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  await studio.open(placed("Cities", "from Cities where Population > 2000000"));
  const map = page.getByRole("img", { name: /^Map with/ });
  await expect(map).toBeVisible();
  await page.getByRole("combobox", { name: "Colour by" }).click();
  await page.getByRole("option", { name: "Country" }).click();
  const legend = page.getByRole("list", { name: "Colours of Country" });
  await expect(legend.getByRole("listitem")).toHaveCount(9);
  await expect(legend.getByRole("listitem").last()).toContainText("others");
  await expect.poll(() => pixelsOf(map, "--map-category-1")).toBeGreaterThan(0);
  for (const item of await legend.getByRole("listitem").all()) {
    const box = (await item.boundingBox())!;
    expect(box.x + box.width).toBeLessThanOrEqual(390);
  }
  expect((await map.boundingBox())!.height).toBeGreaterThan(250);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await studio.isAccessible();
});
