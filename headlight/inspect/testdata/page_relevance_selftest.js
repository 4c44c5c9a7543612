// Tests RelevanceRecord of page_test.cc: 2 x 3 gray cells, and their relevance for the score of a text.
selfTest(() => {
  check("the image is what is shown first", shown("image") && !shown("queries"), "not so");
  check("of all layers", readout().startsWith("Relevance, from layer 1: the score of"), readout());
  check("the cells", readout().includes("“two dogs” is due to “2·1” 0.600, “1·2” 0.300"), readout());
  choose("layer", 1);
  check("of the last layer", readout().startsWith("Relevance, from layer 2: the score of"), readout());
  choose("view", 1);
  check("it is no attention", document.getElementById("query-side").textContent === "score of …", "not so");
  all("#keys button")[3].dispatchEvent(new PointerEvent("pointerenter"));
  check("what a cell adds", readout().includes("“2·1” adds to the score of “two dogs” 1.000"), readout());
});
