// Tests SampleStructure of structure_testing.h: 16 residues, two moments, and expected errors of 2 Å per step between
// residues. One attention has one layer, the other has two. The heads of both attend to the residue itself or to the
// last residue.
selfTest(() => {
  const space = document.getElementById("space"), errors = document.getElementById("errors");
  const ink = () => {
    const {data} = space.getContext("2d").getImageData(0, 0, space.width, space.height);
    let painted = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ++painted;
    return painted / (space.width * space.height);
  };
  const image = () => space.toDataURL();
  const pointer = (canvas, kind, x, y, more = {}) => {
    const bounds = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(kind, {clientX: bounds.left + x, clientY: bounds.top + y, pointerId: 1, bubbles: true, ...more}));
  };
  const axis = 34;  // width of the residue numbers, in pixels
  const errorCell = (i, j) => {
    const side = (errors.getBoundingClientRect().width - axis) / 16;
    return [axis + (j + 0.5) * side, axis + (i + 0.5) * side];
  };
  equal("the title is a text", document.title, "helix <b>");
  equal("what is said at first", readout(), "16 residues, mean pLDDT 70.0");
  check("the chain is drawn", ink() > 0.01 && ink() < 0.8, ink());
  equal("a letter for each residue", all(".residue").map(button => button.textContent).join(""), "MKTAYIAKDRCWGLEV");
  check("nothing is wider than the window", document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth} of ${innerWidth}`);
  check("the legend tells of pLDDT", document.getElementById("legend").textContent.includes("very high (over 90)"), document.getElementById("legend").textContent);

  // A focus in a matrix must update all views.
  pointer(errors, "pointermove", ...errorCell(2, 7));
  check("a cell of the errors", /^THR 103, pLDDT 48\.0 and LYS 108: [\d.]+ Å apart, expected 7\.5 Å, error 10\.0 Å, invariant point attention 0\.000$/.test(readout()), readout());
  equal("its residues are marked in the sequence", all(".residue.here").map(button => button.textContent).join(""), "TK");
  pointer(errors, "pointerleave", 0, 0);
  equal("nothing stays", readout(), "16 residues, mean pLDDT 70.0");
  const colourAt = (canvas, i, j) => {
    const start = axis * devicePixelRatio, side = (canvas.width - start) / 16;
    return [...canvas.getContext("2d").getImageData(start + (j + 0.5) * side, start + (i + 0.5) * side, 1, 1).data].slice(0, 3).join();
  };
  check("a small error is strong, a large one weak", colourAt(errors, 4, 4) !== colourAt(errors, 0, 15), colourAt(errors, 4, 4));
  equal("equal errors have equal colours", colourAt(errors, 1, 5), colourAt(errors, 9, 13));

  const inked = [...errors.getContext("2d").getImageData(0, axis * devicePixelRatio, 24 * devicePixelRatio, errors.height - axis * devicePixelRatio).data].some(part => part > 0);
  check("the rows are numbered", inked, "no ink left of the matrix");

  // A focus in the sequence must update the attention.
  choose("kind", 1);
  hover(all(".residue")[4]);
  equal("a residue looks at itself and the last, half and half", readout(), "TYR 105, pLDDT 56.0 · row attention, block 1, mean of 2 heads: TYR 105 0.500, VAL 116 0.500");
  const head = document.getElementById("head");
  head.value = "1";
  head.dispatchEvent(new Event("change"));
  hover(all(".residue")[5]);
  equal("the second head of the first block", readout(), "ILE 106, pLDDT 60.0 · row attention, block 1, head 2: VAL 116 1.000");
  const layer = document.getElementById("layer");
  layer.value = "2";
  layer.dispatchEvent(new Event("change"));
  equal("and of the second", readout(), "ILE 106, pLDDT 60.0 · row attention, block 2, head 2: ILE 106 1.000");
  head.value = "0";
  head.dispatchEvent(new Event("change"));
  equal("what is seen is marked", all(".residue.seen").map(button => button.textContent).join(""), "V");
  all(".residue")[5].click();
  all(".residue")[5].dispatchEvent(new PointerEvent("pointerleave"));
  check("a click keeps it", readout().startsWith("ILE 106"), readout());
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
  equal("Escape releases it", readout(), "16 residues, mean pLDDT 70.0");

  // In the 3D view, the pointer must find residues, a drag must rotate, and keys must rotate and zoom.
  const bounds = space.getBoundingClientRect(), found = new Set();
  for (let y = 2; y < bounds.height; y += 6) for (let x = 2; x < bounds.width; x += 6) {
    pointer(space, "pointermove", x, y);
    if (!readout().startsWith("16")) found.add(readout().split(",")[0]);
  }
  check("most residues are found by pointing", found.size > 10, [...found].join());
  pointer(space, "pointermove", 1, 1);
  const still = image();
  pointer(space, "pointerdown", 50, 50);
  pointer(space, "pointermove", 120, 90);
  pointer(space, "pointerup", 120, 90);
  const turned = image();
  check("a drag turns the chain", turned !== still, "the same image");
  equal("and chooses no residue", readout(), "16 residues, mean pLDDT 70.0");
  space.focus();
  press("ArrowLeft");
  check("an arrow key turns it", image() !== turned, "the same image");
  press("ArrowRight");
  const before = ink();
  press("+");
  press("+");
  check("+ enlarges it", ink() > before, `${ink()} after ${before}`);
  press("-");
  press("-");

  // Tests other forms and colors.
  const ribbon = image();
  choose("form", 1);
  check("atoms", image() !== ribbon && ink() > 0.005, ink());
  choose("form", 0);
  equal("the ribbon again", image(), ribbon);
  choose("colour", 2);
  check("colours of the chain", image() !== ribbon && document.getElementById("legend").textContent.includes("last residue"), document.getElementById("legend").textContent);
  choose("colour", 0);

  const slider = document.getElementById("moment"), name = () => document.getElementById("moment-name").textContent;
  equal("the last moment is shown", name(), "block 2");
  slider.value = 0;
  slider.dispatchEvent(new Event("input"));
  equal("the first", name(), "block 1");
  check("is another fold", image() !== ribbon, "the same image");
  slider.value = 1;
  slider.dispatchEvent(new Event("input"));
  equal("and back", image(), ribbon);

  const theme = document.documentElement.dataset.theme;
  document.getElementById("theme").click();
  check("the other theme", document.documentElement.dataset.theme !== theme && image() !== ribbon, theme);
});
