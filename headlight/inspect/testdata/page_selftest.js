// Tests TextRecord of page_test.cc.
selfTest(() => {
  const [expectedTheme] = location.hash.slice(1).split(",");
  equal("the system's theme is taken", document.documentElement.dataset.theme, expectedTheme);
  check("nothing overflows to the side", document.documentElement.scrollWidth <= innerWidth,
        `${document.documentElement.scrollWidth} over ${innerWidth}`);
  equal("nothing is loaded", performance.getEntriesByType("resource").length, 0);
  equal("no token was run as a script", window.hacked, undefined);
  equal("no token became an element", all("#queries b, #queries img, h1 b").length, 0);
  equal("the title is text", document.title, "<b>bold</b> & {{data}}");

  equal("attentions to choose", all("input[name=kind]").length, 3);
  equal("layers to choose", all("input[name=layer]").length, 2);
  equal("heads to choose, and their mean", all("input[name=head]").length, 4);
  check("every choice has a name", all("input").every(input =>
    input.getAttribute("aria-label") || input.labels[0].textContent), "one without");
  equal("one stop for Tab in each sentence", all("#queries [tabindex='0'], #keys [tabindex='0']").length, 2);

  // In cross-attention, layer 2, head 3, the weight of query 1 for key 3 is 1. The other queries have weights of 0.25.
  choose("kind", 2);
  choose("layer", 1);
  choose("head", 3);
  equal("what is shown is said", readout(), "Cross-attention, layer 2, head 3");
  equal("queries", all("#queries button").length, 4);
  equal("keys", all("#keys button").length, 5);
  equal("a hostile token is shown as it is", all("#keys bdi")[1].textContent, "<\/script><script>window.hacked=1<\/script>");
  equal("a token says what and where it is", all("#queries button")[1].getAttribute("aria-label"), "query 2 of 4: the");

  hover(all("#queries button")[1]);
  equal("hover: the planted weight", value("keys", 3), "1.000");
  equal("hover: the others", value("keys", 0), "0.000");
  equal("hover: the sentence", readout(), "Cross-attention, layer 2, head 3: “the” looks at “<!--” 1.000");
  equal("hover: beneath the head", all(".tile .top")[3].textContent, "→ <!--1.000");
  equal("hover: a mark on every head", all(".tile .mark").length, 4);
  hover(all("#queries button")[0]);
  equal("hover: three decimals", value("keys", 2), "0.123");
  leave("queries");
  equal("leaving lets go", value("keys", 3), "");
  hover(all("#keys button")[3]);
  equal("a key shows who looks at it", value("queries", 1), "1.000");
  leave("keys");

  all("#queries button")[1].focus();
  equal("keyboard: focus looks", value("keys", 3), "1.000");
  press("ArrowDown");
  equal("keyboard: down", document.activeElement.getAttribute("aria-label"), "query 3 of 4: مرحبا");
  press("End");
  equal("keyboard: end", document.activeElement, all("#queries button")[3]);
  press("ArrowDown");
  equal("keyboard: not beyond the end", document.activeElement, all("#queries button")[3]);
  press("Home");
  equal("keyboard: home", document.activeElement, all("#queries button")[0]);
  press("ArrowRight");
  equal("keyboard: across", document.activeElement, all("#keys button")[0]);
  all("#keys button")[0].click();
  equal("Enter or a click keeps", all("#keys button")[0].getAttribute("aria-pressed"), "true");
  hover(all("#queries button")[2]);
  leave("queries");
  check("what is kept comes back", readout().includes("“der” is seen by"), readout());
  press("Escape");
  equal("Escape lets go", all("[aria-pressed=true].token, .here").length, 0);

  const planted = findCell("“the” looks at “<!--”: 1.000");
  equal("the map: the planted cell has the last colour", hex(planted.pixel), colors[expectedTheme].slice(-6));
  equal("the map: an empty cell has the first", hex(findCell("“the” looks at “der”: 0.000").pixel),
        colors[expectedTheme].slice(0, 6));
  mapCanvas.focus();
  press("ArrowRight");
  press("ArrowRight");
  press("ArrowDown");
  check("the map: arrows walk", readout().includes("“the” looks at “<\/script>"), readout());
  pointAt("click", planted);
  mapCanvas.dispatchEvent(new PointerEvent("pointerleave"));
  check("the map: a click keeps", readout().endsWith("“the” looks at “<!--”: 1.000"), readout());
  press("Escape");

  equal("the scale ends at the largest weight", document.getElementById("largest").textContent, "1.000");
  const saved = [];
  HTMLCanvasElement.prototype.toBlob = function(done) { done(new Blob([this.toDataURL()], {type: "image/png"})); };
  HTMLAnchorElement.prototype.click = function() { saved.push(this); };
  document.getElementById("save").click();
  equal("the image is saved under its name", saved.map(link => link.download).join(), "_b_bold_b_data_-cross2-head3.png");
  check("the image is a blob", saved[0].href.startsWith("blob:"), saved[0].href);
  const drawn = image(), bounds = mapCanvas.getBoundingClientRect();
  check("the image holds the map", drawn.width > bounds.width && drawn.height > bounds.height + 60,
        `${drawn.width} x ${drawn.height}`);
  const painted = new Set();
  const pixels = drawn.getContext("2d").getImageData(0, 0, drawn.width, drawn.height).data;
  for (let at = 0; at < pixels.length; at += 4) painted.add(hex([...pixels.slice(at, at + 3)]));
  check("the image has the map's colours", painted.has(colors[expectedTheme].slice(-6)) &&
        painted.has(colors[expectedTheme].slice(0, 6)), [...painted].slice(0, 20));
  choose("head", 1);
  const most = Math.max(...valuesOf(currentMap(), 0)) / 1000;
  check("another head has another scale", most < 1, most);
  equal("the scale ends at the head's largest weight", document.getElementById("largest").textContent, most.toFixed(3));

  // Hides the special tokens of the record: target token 3 and source token 1.
  document.getElementById("hide").click();
  equal("special tokens are hidden", all("#queries button").length + all("#keys button").length, 7);
  choose("head", 3);
  equal("the scale is of those that are shown", document.getElementById("largest").textContent, "1.000");
  hover(all("#queries button")[1]);
  equal("hidden: the weights stay at their tokens", value("keys", 2), "1.000");
  leave("queries");
  equal("hidden: a cell is still its token's", findCell("“the” looks at “<!--”: 1.000").pixel.length, 4);
  document.getElementById("hide").click();
  equal("all tokens are back", all("#queries button").length + all("#keys button").length, 9);

  choose("view", 1);
  check("model view: shown alone", shown("grid") && !shown("queries") && !shown("heads"), "not so");
  equal("model view: a small map for every layer and head", all("#grid canvas").length, 6);
  check("model view: painted", all("#grid canvas").every(canvas => canvas.width > 1), "not so");
  all("#grid button")[0].focus();
  press("ArrowDown");
  press("ArrowRight");
  equal("model view: arrows walk", document.activeElement.getAttribute("aria-label"), "layer 2, head 2");
  document.activeElement.click();
  equal("model view: a click shows the head", readout(), "Cross-attention, layer 2, head 2");
  check("model view: in the other view", shown("queries") && all("input[name=view]")[0].checked, "not so");
  equal("no neurons without elements", all("input[name=view]").length, 2);

  choose("kind", 1);
  check("a causal map has its legend", !document.getElementById("hidden-legend").hidden, "hidden");
  hover(all("#queries button")[1]);
  equal("a later token is hidden", value("keys", 2), "hidden");
  leave("queries");
  const hidden = findCell("“the” looks at “dog”: hidden, a later token").pixel;
  check("the map: what is hidden is not filled", hidden.length === 4 && hidden[3] < 255, hidden);

  choose("head", 0);
  equal("the mean of all heads", readout(), "Decoder self-attention, layer 2, mean of 3 heads");
  document.getElementById("theme").click();
  equal("the other theme", document.documentElement.dataset.theme, expectedTheme === "dark" ? "light" : "dark");
  equal("with two texts, their roles", document.getElementById("key-side").textContent, "… at key (target)");
  record().source.tokens = [];
  buildMap();
  equal("with one text, none", document.getElementById("key-side").textContent, "… at key");
  equal("the other theme is told", document.getElementById("theme").getAttribute("aria-pressed"),
        `${expectedTheme !== "dark"}`);
});
