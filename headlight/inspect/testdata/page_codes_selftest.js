// Tests CodesRecord of page_test.cc: a start token, three of four cells, and the two words that the cells attend to.
selfTest(() => {
  const canvas = document.getElementById("image");
  const pixelAt = (x, y) => [...canvas.getContext("2d").getImageData(x * canvas.width, y * canvas.height, 1, 1).data];
  const orange = (x, y) => pixelAt(x, y)[0] > 140 && pixelAt(x, y)[2] < 80;
  const pointer = (kind, x, y) => {
    const {left, top, width, height} = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(kind, {clientX: left + x * width, clientY: top + y * height}));
  };
  check("the image is what is shown first", shown("image") && !shown("queries"), "not so");
  equal("a button for each word", all("#others button").map(button => button.textContent).join(), "a,dog");
  check("the cells that look at the first", readout().includes("“a” is seen by “1·1” 1.000, “1·2” 0.250"), readout());
  check("are in the image", orange(0.2, 0.2) && !orange(0.8, 0.2) && !orange(0.2, 0.8) && !orange(0.8, 0.8), pixelAt(0.2, 0.2));
  all("#others button")[1].click();
  check("those that look at the second", readout().includes("“dog” is seen by “2·1” 1.000, “1·2” 0.750"), readout());
  check("are in the image, too", orange(0.2, 0.8) && !orange(0.2, 0.2) && !orange(0.8, 0.8), pixelAt(0.2, 0.8));
  for (const kind of ["pointermove", "click"]) pointer(kind, 0.2, 0.2);
  check("a click on the image changes nothing", readout().includes("“dog” is seen by “2·1” 1.000"), readout());
  canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft"}));
  check("nor does a key", readout().includes("“dog” is seen by “2·1” 1.000"), readout());
  choose("kind", 1);
  pointer("click", 0.2, 0.8);
  check("a cell looks at cells", readout().includes("“2·1” looks at “1·1” 0.750"), readout());
  check("which are in the image", orange(0.2, 0.2) && !orange(0.8, 0.2), pixelAt(0.2, 0.2));
});
