// Only what arithmatex has marked is typeset.
window.MathJax = {
  showMathMenu: false,
  messageStyle: "none",
  tex2jax: {inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]], ignoreClass: ".*", processClass: "arithmatex"},
};
