// Of the picture that page_test.cc calls BoxRecord: 2 x 3 grey cells, and two boxes that look at the first and the last.
selfTest(() => {
  const canvas = document.getElementById("picture");
  const pixelAt = (x, y) => [...canvas.getContext("2d").getImageData(x * canvas.width, y * canvas.height, 1, 1).data];
  const orange = seen => seen[0] > 140 && seen[2] < 80;
  check("the picture is what is shown first", shown("picture") && !shown("queries"), "not so");
  equal("a button for each box", all("#others button").map(button => button.textContent).join(), "dog 0.90,cat 0.80");
  check("the best is shown", readout().includes("“dog 0.90” looks at “1·1” 1.000"), readout());
  check("its cell is orange", orange(pixelAt(0.1, 0.25)) && !orange(pixelAt(0.9, 0.75)), pixelAt(0.1, 0.25));
  // The right side of the first box is half across the picture.
  const beside = pixelAt(0.4, 0.75), edge = pixelAt(0.5, 0.75);
  check("its box is outlined", Math.abs(edge[0] - beside[0]) > 20, `${edge} beside ${beside}`);
  all("#others button")[1].click();
  check("the other box", readout().includes("“cat 0.80” looks at “2·3” 1.000") && orange(pixelAt(0.9, 0.75)), readout());
  choose("kind", 1);
  check("the encoder's cells", readout().includes("“1·1” looks at “1·1” 1.000"), readout());
  equal("no buttons for them", all("#others button").length, 0);
});
