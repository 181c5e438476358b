// Formulas are set in the reader's browser, by the copy of KaTeX that lies beside this file.
document.addEventListener("DOMContentLoaded", () => {
  for (const formula of document.querySelectorAll(".arithmatex")) {
    const source = formula.textContent.trim();
    katex.render(source.slice(2, -2), formula, { displayMode: source.startsWith("\\["), throwOnError: false });
  }
});
