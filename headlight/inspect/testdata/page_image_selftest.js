// Tests ImageRecord of page_test.cc: a class token and 2 x 3 cells of one color.
selfTest(() => {
  const canvas = document.getElementById("image"), cellsOfPage = {rows: 2, columns: 3};
  const middle = cell => [(cell % 3 + 0.5) / 3, (Math.floor(cell / 3) + 0.5) / 2];
  const pixelOf = cell => {
    const [x, y] = middle(cell);
    return [...canvas.getContext("2d").getImageData(x * canvas.width, y * canvas.height, 1, 1).data];
  };
  const pointAtCell = (kind, cell) => {
    const bounds = canvas.getBoundingClientRect(), [x, y] = middle(cell);
    canvas.dispatchEvent(new PointerEvent(kind, {clientX: bounds.left + x * bounds.width, clientY: bounds.top + y * bounds.height}));
  };
  check("nothing overflows to the side", document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollWidth);
  equal("nothing is loaded", performance.getEntriesByType("resource").length, 0);
  check("the image is what is shown first", shown("image") && !shown("queries"), "not so");
  equal("attentions to choose, with the rollout", all("input[name=kind]").length, 2);
  equal("tokens outside the image", all("#others button").length, 1);
  check("the image is as wide as it is high by its shape", Math.abs(canvas.width / canvas.height - 1.5) < 0.02, `${canvas.width} x ${canvas.height}`);

  // In layer 1, head 1, the class token has the weights 0.4, 0.2, 0.1, 0.3, 0 and 0. The image's color is (200, 100,
  // 50).
  check("the last layer is what is shown first", readout().startsWith("Encoder self-attention, layer 2, mean of 2 heads"), readout());
  choose("layer", 0);
  equal("views to choose", all("input[name=view]").length, 4);
  choose("head", 1);
  equal("what is shown is said", readout(),
        "Encoder self-attention, layer 1, head 1: “class token” looks at “1·1” 0.400, “2·1” 0.300, “1·2” 0.200");
  const bright = pixelOf(0), half = pixelOf(1), dark = pixelOf(5);
  const near = (seen, red, green, blue) => [red, green, blue].every((color, i) => Math.abs(seen[i] - color) < 4);
  const luma = 0.299 * 200 + 0.587 * 100 + 0.114 * 50, pale = [200, 100, 50].map(channel => 0.75 * luma + 0.25 * channel);
  const over = share => [0, 2, 4].map(at => 0.4 * pale[at / 2] + 0.6 * parseInt(colors.heat.substr(6 * Math.round(255 * share) + at, 2), 16));
  check("the largest weight is yellow over the image", near(bright, ...over(1)), bright);
  check("half of it is between", near(half, ...over(0.5)), half);
  check("none is violet", near(dark, ...over(0)), dark);
  const opacity = document.getElementById("opacity"), original = document.getElementById("original");
  opacity.value = 0;
  opacity.dispatchEvent(new Event("input"));
  check("without opacity it is the pale image", near(pixelOf(0), ...pale), pixelOf(0));
  opacity.value = 60;
  opacity.dispatchEvent(new Event("input"));
  hover(original);
  check("the original on hover", near(pixelOf(0), 200, 100, 50), pixelOf(0));
  leave("original");
  check("and then the weights again", near(pixelOf(0), ...over(1)), pixelOf(0));
  const beside = document.getElementById("controls").getBoundingClientRect(), place = canvas.getBoundingClientRect();
  check("the image is next to the choices or above them", innerWidth > 900 ? place.right < beside.left : place.bottom < beside.top, `${place.right} ${beside.left}`);
  equal("every head has its own", all(".tile canvas").length, 3);
  equal("beneath the head, its most", all(".tile .top")[1].textContent, "→ 1·10.400");

  document.getElementById("masks").click();
  equal("masks: the share is said", document.getElementById("mass-value").textContent, "60%");
  equal("masks: the cells that hold it", [0, 1, 2, 3, 4, 5].filter(cell => pixelOf(cell)[0] > 150).join(), "0,3");
  const mass = document.getElementById("mass");
  mass.value = 80;
  mass.dispatchEvent(new Event("input"));
  equal("masks: more with a larger share", [0, 1, 2, 3, 4, 5].filter(cell => pixelOf(cell)[0] > 150).join(), "0,1,3");
  document.getElementById("masks").click();

  pointAtCell("pointermove", 4);
  check("pointing at a patch shows where it looks", readout().includes("“2·2” looks at “2·3” 1.000"), readout());
  check("only its cell is bright", pixelOf(5)[0] > 150 && pixelOf(0)[0] < 100, pixelOf(5));
  pointAtCell("click", 4);
  canvas.dispatchEvent(new PointerEvent("pointerleave"));
  check("a click keeps it", readout().includes("“2·2” looks at"), readout());
  canvas.focus();
  press("ArrowUp");
  check("the arrows walk", readout().includes("“1·2” looks at"), readout());
  press("Escape");
  check("Escape goes back to the class token", readout().includes("“class token” looks at"), readout());
  choose("layer", 1);
  choose("head", 1);
  check("weight outside of the image is said", readout().endsWith("“1·1” 0.000, “1·2” 0.000; 0.500 outside the image") ||
        readout().includes("; 0.500 outside the image"), readout());
  all("#others button")[0].click();
  equal("a token outside the image can be kept", all("#others [aria-pressed=true]").length, 1);
  press("Escape");

  choose("kind", 1);
  check("the rollout has no heads to choose", !shown("heads") && readout().startsWith("Attention rollout (encoder), layer 2: "), readout());
  choose("kind", 0);
  choose("view", 2);
  equal("model view: images", all("#grid canvas").length, 4);
  check("model view: by their shape", all("#grid canvas").every(one => Math.abs(one.width / one.height - 1.5) < 0.1), "not so");
  all("#grid button")[1].click();
  check("model view: a click shows the head on the image", shown("image") && readout().includes("layer 1, head 2"), readout());

  choose("view", 3);
  check("neurons: shown alone", shown("neurons") && !shown("image"), "not so");
  equal("neurons: a row per key", all("#neurons tbody tr").length, 7);
  const numbers = all("#neurons tbody tr").map(row => row.children[3].textContent);
  equal("neurons: the sum of the products", numbers.slice(0, 3).join(), "0.00,1.00,-2.00");
  equal("neurons: the weight", all("#neurons tbody tr")[1].children[4].textContent, "0.400");
  choose("layer", 1);
  check("neurons: not where there are no elements", shown("queries"), "not so");
  choose("view", 0);
  const saved = [];
  HTMLCanvasElement.prototype.toBlob = function(done) { done(new Blob([this.toDataURL()], {type: "image/png"})); };
  HTMLAnchorElement.prototype.click = function() { saved.push(this); };
  document.getElementById("save-image").click();
  equal("the image is saved under its name", saved.map(link => link.download).join(), "vit-encoder2-head2.png");
  document.getElementById("theme").click();
  check("the other theme", shown("image"), "not shown");
});
