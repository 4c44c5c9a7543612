// Tests BoxRecord of page_test.cc: an image of 2 x 3 gray cells, and two boxes that attend to the first and the last
// cell.
selfTest(() => {
  const canvas = document.getElementById("image");
  const pixelAt = (x, y) => [...canvas.getContext("2d").getImageData(x * canvas.width, y * canvas.height, 1, 1).data];
  const orange = seen => seen[0] > 140 && seen[2] < 80;
  check("the image is what is shown first", shown("image") && !shown("queries"), "not so");
  equal("a button for each box", all("#others button").map(button => button.textContent).join(), "dog 0.90,cat 0.80");
  check("the best is shown", readout().includes("“dog 0.90” looks at “1·1” 1.000"), readout());
  check("its cell is orange", orange(pixelAt(0.1, 0.25)) && !orange(pixelAt(0.9, 0.75)), pixelAt(0.1, 0.25));
  // The right side of the first box is at half the width of the image.
  const beside = pixelAt(0.4, 0.75), edge = pixelAt(0.5, 0.75);
  check("its box is outlined", Math.abs(edge[0] - beside[0]) > 20, `${edge} beside ${beside}`);
  all("#others button")[1].click();
  check("the other box", readout().includes("“cat 0.80” looks at “2·3” 1.000") && orange(pixelAt(0.9, 0.75)), readout());
  const clickAt = (x, y) => {
    const bounds = canvas.getBoundingClientRect();
    for (const kind of ["pointermove", "click"])
      canvas.dispatchEvent(new PointerEvent(kind, {clientX: bounds.left + x * bounds.width, clientY: bounds.top + y * bounds.height}));
  };
  const other = pixelAt(0.5, 0.25), within = pixelAt(0.4, 0.25);  // the right side of the first box
  check("a box that is not chosen is outlined, too", Math.abs(other[0] - within[0]) > 20, `${other} beside ${within}`);
  clickAt(0.2, 0.3);
  check("a click on a box", readout().includes("“dog 0.90” looks at “1·1” 1.000"), readout());
  clickAt(0.8, 0.8);
  check("a click on the other box", readout().includes("“cat 0.80” looks at “2·3” 1.000"), readout());
  clickAt(0.8, 0.2);
  check("a click beside the boxes shows the encoder's cell", readout().includes("“1·3” looks at “1·3” 1.000"), readout());
  choose("kind", 0);
  check("back to the boxes", readout().includes("“dog 0.90” looks at"), readout());
  choose("kind", 1);
  check("the encoder's cells", readout().includes("“1·1” looks at “1·1” 1.000"), readout());
  equal("no buttons for them", all("#others button").length, 0);
});
