// Expiration, refresh and archival: enabled and disabled, and what is due next.
import { expect, test } from "./studio";

test("a task is enabled, and then documents expire", async ({ page, studio }) => {
  await studio.database("Lives", {
    "sessions/1": { "@metadata": { "@collection": "Sessions", "@expires": "2020-01-01T00:00:00Z" } },
    "sessions/2": { "@metadata": { "@collection": "Sessions", "@expires": "2090-01-01T00:00:00Z" } },
  });
  await studio.open("/databases/Lives/lifetimes");
  const task = page.getByRole("region", { name: "Expiration" });
  await expect(task.getByRole("switch", { name: "Enabled" })).not.toBeChecked();
  await expect(task.getByRole("row", { name: /sessions\/1/ })).toContainText("Due, and disabled");
  await expect(task.getByRole("row", { name: /sessions\/2/ })).not.toContainText("Due, and disabled");
  await expect(page.getByRole("region", { name: "Archival" })).toContainText("No document names a time.");
  await studio.isAccessible();

  const save = task.getByRole("button", { name: "Save" });
  await expect(save).toBeDisabled();
  await task.getByRole("switch", { name: "Enabled" }).check();
  const frequency = task.getByRole("textbox", { name: "Seconds between runs" });
  await frequency.fill("0");
  await expect(task.getByText("A whole number from 1 on")).toBeVisible();
  await expect(save).toBeDisabled();
  await frequency.fill("1");
  await save.click();
  await expect(page.getByText("Expiration is enabled")).toBeVisible();
  await expect(task.getByText("1 document expired since the database was opened.")).toBeVisible();
  await expect(task.getByRole("row", { name: /sessions\/1/ })).toHaveCount(0);
  expect(await studio.stored("Lives", "sessions/1")).toBeUndefined();

  await page.reload();
  await expect(task.getByRole("switch", { name: "Enabled" })).toBeChecked();
  await expect(frequency).toHaveValue("1");
  await task.getByRole("link", { name: "sessions/2" }).click();
  await expect(page.getByRole("heading", { name: "sessions/2" })).toBeVisible();
});
