// On a wide screen nothing is cut off, and nothing lies beside the page.
import { expect, test } from "./studio";

const query = (text: string) => `/databases/Northwind/query?q=${encodeURIComponent(text)}`;

const SCREENS: [place: string, text: string | RegExp][] = [
  ["/databases", "69,472"],
  ["/databases/Northwind/documents?collection=Orders", "orders/1-A"],
  ["/databases/Northwind/documents?collection=Orders&tab=fields", "ShipTo.Country"],
  ["/databases/Northwind/document?id=orders%2F1-A", "Related documents"],
  ["/databases/Northwind/document?collection=Orders", "New document"],
  [query("from Orders where Freight > 500"), /results in/],
  [`${query("from Orders where Freight > 500")}&as=plan`, "Timings"],
  [query("from index 'Wide/Orders' select facet(Company, sum(Freight), average(Freight))"), "Sum of Freight"],
  ["/databases/Northwind/indexes", "Wide/Orders"],
  ["/databases/Northwind/advice", /^(No advice|Reason)$/],
  ["/databases/Northwind/index?name=Wide%2FOrders", "Definition"],
  ["/databases/Northwind/index?name=Wide%2FOrders&tab=terms", "companies/1-a"],
  ["/databases/Northwind/index", "New index"],
  ["/databases/Northwind/compare-exchange", "No compare-exchange values"],
  ["/databases/Northwind/constraints", "No unique constraints"],
  ["/databases/Northwind/subscriptions", "No subscriptions"],
  ["/databases/Northwind/revisions", "No deleted documents with revisions"],
  ["/databases/Northwind/feed", "No changes yet"],
  ["/databases/Northwind/statistics", "What takes the space"],
  ["/databases/Northwind/operations", "Operations"],
  ["/databases/Northwind/lifetimes", "Expiration"],
  ["/databases/Northwind/backups", "No backups are made by the clock"],
  ["/restore", "A backup becomes a new database"],
  ["/server", "the server is ready"],
  ["/server?tab=slow", /500 ms/],
  ["/server?tab=backups", "New backup of all databases"],
  ["/server?tab=settings", "Limits.Connections"],
  ["/about", "Connect an application"],
  ["/help?page=docs%2Fsettings", "Settings"],
  ["/databases/Nowhere/documents", "There is no database"],
];

test("on a wide screen nothing is cut off", async ({ page, studio }) => {
  test.slow();
  studio.allow(/404 \(Not Found\)|503/);
  const maps = ["from order in docs.Orders select new { order.Company, order.Freight }"];
  await studio.index("Northwind", { Name: "Wide/Orders", Maps: maps });
  await page.setViewportSize({ width: 1920, height: 1080 });
  for (const [place, text] of SCREENS) {
    await studio.open(place);
    await expect(page.getByRole("main").getByText(text).first()).toBeVisible();
    const found = await page.evaluate(() => {
      const root = document.documentElement;
      const beside = root.scrollWidth > root.clientWidth ? ["the page scrolls"] : [];
      const heads = [...document.querySelectorAll("main h1")].map((head) => head.getBoundingClientRect());
      const head = heads.find(({ width }) => width > 0)!;
      const edge = head.left - document.querySelector("main")!.getBoundingClientRect().left;
      if (edge < 12) beside.push("the title lies at the edge");
      const cut = [...document.body.querySelectorAll<HTMLElement>("*")].filter((element) => {
        const { overflowX, textOverflow, position } = getComputedStyle(element);
        // What ends with dots says so, and what is hidden from the eye is for readers.
        const isMeant = textOverflow === "ellipsis" || (position === "absolute" && element.clientWidth <= 1);
        return (
          ["hidden", "clip"].includes(overflowX) &&
          !isMeant &&
          element.textContent !== "" &&
          element.scrollWidth > element.clientWidth + 1
        );
      });
      const outside = [...document.body.querySelectorAll<HTMLElement>("button, a, input")].filter((element) => {
        const { left, right, width } = element.getBoundingClientRect();
        return width > 0 && (left < 0 || right > innerWidth) && !element.closest('[role="grid"]');
      });
      return [...beside, ...[...cut, ...outside].map((element) => element.outerHTML.slice(0, 200))];
    });
    expect(found, place).toEqual([]);
  }
});
