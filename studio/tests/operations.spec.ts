// What goes on in the background on the server: it is listed, told of, and stopped.
import { expect, test, type Studio } from "./studio";

const COUNT = 40;

async function users(studio: Studio, database: string) {
  await studio.database(database);
  const commands = Array.from({ length: COUNT }, (_, at) => ({
    Id: `users/${at}`,
    Type: "PUT",
    Document: { Age: at, "@metadata": { "@collection": "Users" } },
  }));
  await studio.page.request.post(`${studio.url}/databases/${database}/bulk_docs`, { data: { Commands: commands } });
}

test("operations are listed with what came of them", async ({ page, studio }) => {
  await studio.database("Worked", { "users/1": { Age: 1, "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases/Worked/operations");
  await expect(page.getByRole("heading", { name: "No operations", exact: true })).toBeVisible();
  await page.request.delete(`${studio.url}/databases/Worked/queries`, { data: { Query: "from Users" } });
  const row = page.getByRole("row", { name: /Done/ });
  await expect(row).toBeVisible();
  await expect(row).toContainText("1 document");
  await expect(row).not.toContainText("1 documents");
  await studio.isAccessible();
});

test("an operation is stopped in the list, and one that failed is told", async ({ page, studio }) => {
  await users(studio, "Stopping");
  // At one a second it takes far longer than stopping it does.
  await page.request.delete(`${studio.url}/databases/Stopping/queries?maxOpsPerSec=1`, { data: { Query: "from Users" } });
  await studio.open("/databases/Stopping/operations");
  const row = page.getByRole("row", { name: /Delete by query/i });
  await expect(row.getByText("Running")).toBeVisible();
  await expect(row.getByRole("progressbar")).toBeVisible();
  await row.getByRole("button", { name: "Stop" }).click();
  await expect(row.getByText("Stopped", { exact: true })).toBeVisible();
  await expect(row.getByText(/^Ended after \d+ of 40 documents$/)).toBeVisible();
  await expect(row.getByRole("button", { name: "Stop" })).toHaveCount(0);

  const patch = { Query: { Query: "from Users update { throw 'no more' }" } };
  await page.request.patch(`${studio.url}/databases/Stopping/queries`, { data: patch });
  await expect(page.getByRole("row", { name: /Patch by query/i }).getByText("Failed", { exact: true })).toBeVisible();
  await studio.isAccessible();
});

test("a patch is stopped where it was started", async ({ page, studio }) => {
  await users(studio, "Halted");
  await page.route("**/databases/Halted/queries", (route) =>
    route.continue(route.request().method() === "PATCH" ? { url: `${route.request().url()}?maxOpsPerSec=1` } : {}),
  );
  await studio.open("/databases/Halted/query");
  await page.getByRole("textbox", { name: "Query in RQL" }).click();
  await page.keyboard.insertText("from Users update { this.Old = true; }");
  await page.getByRole("button", { name: "Patch…" }).click();
  await page.getByRole("textbox", { name: /^Type the number/ }).fill(String(COUNT));
  await page.getByRole("dialog").getByRole("button", { name: "Patch", exact: true }).click();
  const running = page.getByRole("dialog", { name: "Patching" });
  await expect(running.getByText(/^[1-9]\d* of 40$/)).toBeVisible();
  await running.getByRole("button", { name: "Stop" }).click();
  await expect(running.getByText(/^Stopped after [1-9]\d* of 40 documents\. These changes stay\.$/)).toBeVisible();
  await running.getByRole("button", { name: "Close" }).last().click();
  await expect(running).toBeHidden();
  expect((await studio.stored("Halted", "users/39"))!["Old"]).toBeUndefined();
});
