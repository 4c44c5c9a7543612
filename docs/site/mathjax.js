// Typesets only the elements that arithmatex has marked.
window.MathJax = {
  showMathMenu: false,
  messageStyle: "none",
  tex2jax: {inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]], ignoreClass: ".*", processClass: "arithmatex"},
};
