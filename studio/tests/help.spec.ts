// The documentation in the studio: contents, links between pages, search; light and dark, narrow, and by keyboard.
import { expect, test } from "./studio";

test("a page is opened from the contents, and its links lead to others", async ({ page, studio }) => {
  const files: string[] = [];
  page.on("request", (request) => /\/assets\//.test(request.url()) && files.push(request.url()));
  await studio.open("/databases");
  await expect(page.getByRole("link", { name: "Northwind", exact: true })).toBeVisible();
  const before = files.length;
  await page.getByRole("link", { name: "Help" }).click();
  await expect(page.getByRole("navigation", { name: "Contents" })).toBeVisible();
  // Nothing of it comes before it is opened.
  expect(files.length).toBeGreaterThan(before);
  const contents = page.getByRole("navigation", { name: "Contents" });
  await contents.getByRole("link", { name: "RQL, the query language" }).click();
  await expect(page.getByRole("heading", { name: "RQL", exact: true })).toBeVisible();
  await expect(page).toHaveTitle("RQL · Rookery");
  await expect(page.getByRole("article").getByText("from Orders").first()).toBeVisible();
  await studio.isAccessible();

  // A heading of another page.
  await studio.open("/help?page=docs%2Fstudio");
  await page.getByRole("article").getByRole("link", { name: "endpoints" }).click();
  await expect(page.getByRole("heading", { name: "HTTP", exact: true })).toBeVisible();
  await page.goBack();
  const last = page.getByRole("article").getByRole("link", { name: /design page/ });
  await last.click();
  await expect(page.getByRole("heading", { name: "Next", exact: true })).toBeInViewport();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Next", exact: true })).toBeInViewport();
  // Pictures are files of the server.
  await studio.open("/help?page=docs%2Fstudio");
  const picture = page.getByRole("img", { name: "The documents of a collection" });
  await picture.scrollIntoViewIfNeeded();
  await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(100);
});

test("sections are found by their words, and opened by keyboard", async ({ page, studio }) => {
  await studio.open("/help");
  await page.getByRole("textbox", { name: "Search the documentation" }).focus();
  await page.keyboard.type("filter_limit");
  const found = page.getByRole("list", { name: "Sections found" });
  await expect(found.getByRole("link", { name: "filter", exact: true })).toBeVisible();
  await expect(found.locator("mark").first()).toHaveText("filter_limit");
  await studio.isAccessible();
  await page.reload();
  await expect(found.getByRole("link", { name: "filter", exact: true })).toBeVisible();
  const link = found.getByRole("link", { name: "filter", exact: true });
  for (let presses = 0; presses < 40 && !(await link.evaluate((one) => one === document.activeElement)); presses++) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "filter", exact: true })).toBeFocused();
  await page.getByRole("textbox", { name: "Search the documentation" }).fill("nothinghasthisword");
  await expect(page.getByRole("heading", { name: "Nothing was found" })).toBeVisible();
});

test("the contents are one stop of the tab key, and arrows go through them", async ({ page, studio }) => {
  await studio.open("/help?page=docs%2Finstall");
  const contents = page.getByRole("navigation", { name: "Contents" });
  await page.getByRole("textbox", { name: "Search the documentation" }).focus();
  await page.keyboard.press("Tab");
  await expect(contents.getByRole("link", { name: "Install and run" })).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Concepts in ten minutes" })).toBeVisible();
});

test("on a narrow screen, in the dark, pages fit and the contents fold", async ({ page, studio }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 800 });
  for (const name of ["docs/rql", "docs/settings", "BENCHMARKS", "docs/first-java", "README"]) {
    await studio.open(`/help?page=${encodeURIComponent(name)}`);
    await expect(page.getByRole("article")).toBeVisible();
    const beside = await page.evaluate(() => {
      const article = document.querySelector("article")!;
      const { right } = article.getBoundingClientRect();
      const outside = [...article.querySelectorAll<HTMLElement>("p, li, h2, h3, pre, img, [role=region]")];
      const wide = outside.filter((element) => !element.closest("table") && element.getBoundingClientRect().right > right + 1);
      return [document.documentElement.scrollWidth - innerWidth, ...wide.map((element) => element.outerHTML.slice(0, 120))];
    });
    expect(beside, name).toEqual([0]);
  }
  await studio.isAccessible();
  await page.getByText("Contents", { exact: true }).click();
  await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Security", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Security", exact: true, level: 1 })).toBeVisible();
  await expect(page.getByRole("link", { name: "Install and run" })).toBeHidden();
});

test("a page that does not exist is said, and the palette leads to the help", async ({ page, studio }) => {
  await studio.open("/help?page=docs%2Fnowhere");
  await expect(page.getByRole("heading", { name: "There is no such page" })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("help");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("link", { name: "Go to the first page" })).toBeHidden();
  await expect(page.getByRole("article")).toBeVisible();
});
