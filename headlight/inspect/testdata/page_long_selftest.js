// Tests LongRecord of page_test.cc: 2,000 tokens and one layer of two heads, in which query q attends to key 1999 - q.
selfTest(() => {
  const sentences = document.getElementById("sentences"), frame = document.getElementById("map-frame");
  check("nothing overflows to the side", document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollWidth);
  check("few tokens are elements", all(".token").length < 200, all(".token").length);
  check("the lists have room for all", document.getElementById("queries").offsetHeight === 2000 * 21,
        document.getElementById("queries").offsetHeight);
  check("canvases are as large as the screen", all("canvas").every(canvas => canvas.width * canvas.height < 4e6),
        all("canvas").map(canvas => `${canvas.width} x ${canvas.height}`));
  equal("the first head is shown, since a mean reads all", readout(), "Encoder self-attention, layer 1, head 1");
  all("#queries button")[0].focus();
  check("the other end is found", readout().endsWith("“t0” looks at “t1999” 1.000"), readout());
  press("End");
  equal("End goes to the last token", document.activeElement.getAttribute("aria-label"), "query 2000 of 2000: t1999");
  check("the list scrolled", sentences.scrollTop > 40000, sentences.scrollTop);
  check("still few tokens are elements", all(".token").length < 200, all(".token").length);
  check("what it looks at is out of sight, but said", readout().endsWith("“t1999” looks at “t0” 1.000"), readout());
  press("PageUp");
  equal("PageUp walks on", document.activeElement.getAttribute("aria-label"), "query 1980 of 2000: t1979");
  press("Home");
  equal("Home comes back", document.activeElement.getAttribute("aria-label"), "query 1 of 2000: t0");
  sentences.scrollTop = 21000;
  sentences.dispatchEvent(new Event("scroll"));
  check("scrolling shows others", all("#queries button")[0].textContent.startsWith("t99"), all("#queries button")[0].textContent);

  document.activeElement.blur();
  mapCanvas.focus();
  press("Enter");
  press("ArrowDown");
  check("the map: the first cells", readout().includes("“t1” looks at “t0”: 0.000"), readout());
  const before = frame.scrollWidth;
  document.getElementById("zoom-in").click();
  check("the map: larger cells", frame.scrollWidth > 1.5 * before, `${before}, then ${frame.scrollWidth}`);
  frame.scrollLeft = frame.scrollWidth;
  frame.dispatchEvent(new Event("scroll"));
  const bounds = mapCanvas.getBoundingClientRect();
  pointAt("pointermove", {x: bounds.width - 4, y: place.top + 1});
  check("the map: scrolled to the last keys", readout().endsWith("“t0” looks at “t1999”: 1.000"), readout());
  check("the map: painted there", mapCanvas.width * mapCanvas.height < 4e6, `${mapCanvas.width} x ${mapCanvas.height}`);
  later.run();
  later.run();
  for (let turn = 0; turn < 100 && later.tasks.length > 0; ++turn) later.run();
  check("the small maps come later", all(".tile canvas").every(canvas => canvas.width === 144), all(".tile canvas").map(canvas => canvas.width));
  document.getElementById("hide").click();
  equal("special tokens are hidden", document.getElementById("keys").offsetHeight, 1999 * 21);
});
