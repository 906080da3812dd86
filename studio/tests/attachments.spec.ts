// Attachments of a document: stored by drag and by the field, shown, downloaded, replaced, deleted.
import { readFileSync } from "node:fs";
import { expect, test, type Studio } from "./studio";

/** An image of one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

const region = (studio: Studio) => studio.page.getByRole("region", { name: "Attachments" });
const rowOf = (studio: Studio, name: string) => region(studio).getByRole("listitem").filter({ hasText: name });

async function attach(studio: Studio, name: string, mimeType: string, buffer: Buffer) {
  await studio.page.getByLabel("Files to attach").setInputFiles({ name, mimeType, buffer });
}

/** Drops a file of a text on an element, as a user would. */
async function drop(studio: Studio, on: ReturnType<typeof region>, name: string, text: string) {
  const transfer = await studio.page.evaluateHandle(
    ([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text!], name!, { type: "text/plain" }));
      return data;
    },
    [name, text],
  );
  await on.dispatchEvent("dragover", { dataTransfer: transfer });
  await on.dispatchEvent("drop", { dataTransfer: transfer });
}

test("files are attached, shown, downloaded, replaced and deleted", async ({ page, studio }) => {
  await studio.database("Attached", { "posts/1": { Title: "One", "@metadata": { "@collection": "Posts" } } });
  await studio.open("/databases/Attached/document?id=posts%2F1");
  await expect(region(studio)).toContainText("None. Drop files here.");
  await drop(studio, region(studio), "notes.txt", "first line\nsecond line");
  await expect(rowOf(studio, "notes.txt")).toContainText("22 B");
  // What is dropped elsewhere goes nowhere.
  const editor = page.getByRole("textbox", { name: "Document as JSON" });
  await drop(studio, editor, "missed.txt", "missed");
  await attach(studio, "dot.png", "image/png", PNG);
  await expect(rowOf(studio, "dot.png")).toBeVisible();
  await expect(region(studio).getByRole("listitem")).toHaveCount(2);
  await expect(editor).not.toContainText("missed");
  // The list stands in metadata of the server: nothing was changed that one would have to look at.
  await expect(page.getByText("Somebody else changed it.")).toHaveCount(0);
  await studio.isAccessible();

  await region(studio).getByRole("button", { name: "notes.txt", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "notes.txt" });
  await expect(dialog.getByRole("region", { name: "Content of notes.txt" })).toHaveText("first line\nsecond line");
  await studio.isAccessible("dialog");
  const [file] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("link", { name: "Download" }).click()]);
  expect(file.suggestedFilename()).toBe("notes.txt");
  expect(readFileSync(await file.path(), "utf8")).toBe("first line\nsecond line");
  await page.keyboard.press("Escape");
  await region(studio).getByRole("button", { name: "dot.png", exact: true }).click();
  const picture = page.getByRole("dialog", { name: "dot.png" }).getByRole("img", { name: "dot.png" });
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
  await studio.isAccessible("dialog");
  await page.keyboard.press("Escape");

  await attach(studio, "Notes.txt", "text/plain", Buffer.from("new"));
  const replaced = page.getByRole("dialog", { name: "Replace this attachment?" });
  await expect(replaced).toContainText("Notes.txt");
  await replaced.getByRole("button", { name: "Replace" }).click();
  await expect(rowOf(studio, "otes.txt")).toContainText("3 B");

  // The document is saved as if nothing had happened.
  await studio.write("Document as JSON", '{"Title": "Two", "@metadata": {"@collection": "Posts"}}');
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("posts/1 saved")).toBeVisible();
  await expect(region(studio).getByRole("listitem")).toHaveCount(2);

  await rowOf(studio, "dot.png").getByRole("button", { name: "Actions for the attachment dot.png" }).click();
  await expect(page.getByRole("menuitem", { name: "Download" })).toHaveAttribute("href", /name=dot\.png/);
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(region(studio).getByRole("listitem")).toHaveCount(1);
});

test("a large file shows its progress, and a long text its beginning", async ({ page, studio }) => {
  await studio.database("HeavyFiles", { "posts/1": { Title: "One" } });
  await studio.open("/databases/HeavyFiles/document?id=posts%2F1");
  const { go } = await studio.hold("**/attachments?*", (request) => request.method() === "PUT");
  await attach(studio, "long.log", "", Buffer.alloc(5 << 20, "a line of a log\n"));
  await expect(page.getByRole("dialog", { name: "Attach long.log" })).toBeVisible();
  go();
  await expect(page.getByText("long.log is attached")).toBeVisible();
  await region(studio).getByRole("button", { name: "long.log", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "long.log" });
  await expect(dialog.getByText("The first 64 KB.")).toBeVisible();
  expect((await dialog.getByRole("region").innerText()).length).toBe(64 << 10);
});

test("on a narrow screen, and in the dark, attachments stand below the text", async ({ page, studio }) => {
  await studio.database("Attached-narrow", { "posts/1": { Title: "One" } });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 400, height: 800 });
  await studio.open("/databases/Attached-narrow/document?id=posts%2F1");
  await attach(studio, "a-name-without-any-blanks-that-is-rather-long-for-a-narrow-screen.txt", "text/plain", Buffer.from("x"));
  await expect(region(studio).getByRole("listitem")).toHaveCount(1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)).toBe(false);
  await studio.isAccessible();
});
