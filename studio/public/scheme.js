// Light or dark before the first paint, so that nothing flashes. The key is that of the component library.
try {
  var kept = localStorage.getItem("mantine-color-scheme-value");
  var isDark = kept === "dark" || (kept !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
} catch (_) {
  // Storage may be forbidden; then it is light.
}
