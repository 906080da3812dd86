// The studio in a browser against a real server with real data, which is started once for all tests (tests/server.ts).
import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

/** The system's browser, none is downloaded. The one without windows takes less time. */
const withoutWindows = "/usr/bin/chromium-headless-shell";
const executablePath = process.env["CHROMIUM"] ?? (existsSync(withoutWindows) ? withoutWindows : "/usr/bin/chromium");
/** What runs in place of the tests, if anything. */
const other =
  process.env["SCREENSHOTS"] !== undefined ? "screenshots.ts" : process.env["BUDGETS"] !== undefined ? "budgets.ts" : undefined;

export default defineConfig({
  testDir: "tests",
  testMatch: other ?? "*.spec.ts",
  globalSetup: "./tests/server.ts",
  outputDir: process.env["PLAYWRIGHT_OUTPUT"] ?? "test-results",
  fullyParallel: true,
  // Nothing else is to run beside what is measured.
  workers: other === "budgets.ts" ? 1 : 2,
  retries: 0,
  // Generous: the tests prove what happens, and other tests may run beside them.
  timeout: 180_000,
  expect: { timeout: 60_000 },
  reporter: [["./tests/reporter.ts"]],
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    trace: "off",
    screenshot: "only-on-failure",
    launchOptions: { executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] },
  },
});
