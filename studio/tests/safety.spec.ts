// What is not safe about the set-up: over HTTP, and with HTTPS until it is put right.
import { Secured } from "./secured";
import { expect, test } from "./studio";

test("over HTTP it says who can do what, and where to read on", async ({ page, studio }) => {
  await studio.open("/safety");
  const card = page
    .getByRole("listitem")
    .filter({ hasText: "Every user and program of this machine can read and change everything" });
  await expect(card).toContainText("Notice");
  await studio.isAccessible();
  // Nothing to sign in to, and no list of who may.
  await expect(page.getByRole("link", { name: "Access", exact: true })).toHaveCount(0);
  await expect(page.getByRole("group", { name: "Signed in as" })).toHaveCount(0);
  await card.getByRole("link", { name: /^Read more/ }).click();
  await expect(page.getByRole("heading", { name: "HTTPS", exact: true })).toBeVisible();
});

test.describe("with HTTPS", () => {
  test.use({ ignoreHTTPSErrors: true });

  test("a key that never expires is found until it is changed", async ({ page, studio }) => {
    const secured = await Secured.start();
    try {
      studio.url = secured.url;
      studio.allow(/status of 40[13]/);
      const key = await secured.key("forever", "ClusterAdmin");
      await studio.open("/safety");
      await page.getByRole("textbox", { name: "API key" }).fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      const card = page.getByRole("listitem").filter({ hasText: "The API key 'forever' of a cluster admin never expires" });
      await expect(card).toContainText("Warning");
      await expect(page.getByRole("listitem").filter({ hasText: "There is no audit log" })).toBeVisible();
      await expect(page.getByRole("link", { name: "Safety" })).toContainText("2 findings to look at");
      await studio.isAccessible();
      await card.getByRole("link", { name: "API keys" }).click();
      await page.getByRole("button", { name: "Actions for forever" }).click();
      await page.getByRole("menuitem", { name: "Change rights…" }).click();
      await page.getByRole("dialog").getByLabel("Expires").fill("2110-12-31");
      await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
      await expect(page.getByRole("row", { name: /^forever/ })).not.toContainText("Never");
      await page.getByRole("link", { name: "Safety" }).click();
      await expect(page.getByRole("listitem").filter({ hasText: "There is no audit log" })).toBeVisible();
      await expect(card).toHaveCount(0);
      await page.setViewportSize({ width: 390, height: 800 });
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      await studio.isAccessible();
    } finally {
      // The studio would ask on.
      await page.goto("about:blank");
      await secured.stop();
    }
  });
});
