// A line for each test, and `N passed, M failed` last, as scripts/test reads it.
import type { FullConfig, FullResult, Reporter, Suite, TestCase, TestResult } from "@playwright/test/reporter";

/** Without colours, for logs. */
const plain = (text: string) => text.replace(/\u001b\[[\d;]*m/g, "");

export default class Total implements Reporter {
  private passed = 0;
  private failed = 0;
  private expected = 0;

  onBegin(_: FullConfig, suite: Suite) {
    this.expected = suite.allTests().length;
  }

  onTestEnd(test: TestCase, result: TestResult) {
    const isPassed = result.status === "passed";
    if (isPassed) this.passed++;
    else this.failed++;
    console.log(`${isPassed ? "ok     " : "FAILED "} ${test.titlePath().slice(2).join(" › ")} (${result.duration} ms)`);
    if (!isPassed) for (const error of result.errors) console.log(plain(error.stack ?? error.message ?? error.value ?? ""));
  }

  /** What was measured. */
  onStdOut(text: string | Buffer) {
    process.stdout.write(text);
  }

  onError(error: { message?: string; stack?: string }) {
    console.log(error.stack ?? error.message);
  }

  onEnd(result: FullResult) {
    // What did not run did not pass.
    const missing = this.expected - this.passed - this.failed;
    if (missing > 0 || (result.status !== "passed" && this.failed === 0)) this.failed += Math.max(1, missing);
    console.log(`${this.passed} passed, ${this.failed} failed`);
  }
}
