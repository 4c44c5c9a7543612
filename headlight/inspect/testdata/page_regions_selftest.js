// Tests RegionRecord of page_test.cc: two regions of an image, the whole image, and two words.
selfTest(() => {
  const canvas = document.getElementById("image");
  const pixelAt = (x, y) => [...canvas.getContext("2d").getImageData(x * canvas.width, y * canvas.height, 1, 1).data];
  const orange = seen => seen[0] > 140 && seen[2] < 80;
  check("the image is what is shown first", shown("image") && !shown("queries"), "not so");
  equal("a button for each word", all("#others button").map(button => button.textContent).join(), "a,dog");
  check("where the first looks", readout().includes("“a” looks at “cat” 0.500"), readout());
  check("at the region on the right", orange(pixelAt(0.8, 0.8)) && !orange(pixelAt(0.2, 0.3)), pixelAt(0.8, 0.8));
  all("#others button")[1].click();
  check("where the second looks", readout().includes("“dog” looks at “dog” 1.000"), readout());
  check("at the region on the left", orange(pixelAt(0.2, 0.3)) && !orange(pixelAt(0.8, 0.8)), pixelAt(0.2, 0.3));
  choose("kind", 1);
  check("the regions that look at a word", readout().includes("“a” is seen by “whole image” 1.000"), readout());
  all("#others button")[1].click();
  check("those that look at the other", readout().includes("“dog” is seen by “cat” 0.750, “dog” 0.250"), readout());
  check("are in the image", orange(pixelAt(0.8, 0.8)) && !orange(pixelAt(0.2, 0.3)), pixelAt(0.8, 0.8));
  canvas.dispatchEvent(new PointerEvent("click", {clientX: canvas.getBoundingClientRect().left + 5, clientY: canvas.getBoundingClientRect().top + 5}));
  check("a click on the image changes nothing", readout().includes("“dog” is seen by “cat” 0.750"), readout());
});
