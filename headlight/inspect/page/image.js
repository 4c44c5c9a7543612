// Attention over an image: shows the weights as colors over the pale image.

// Returns the side of a map whose tokens are cells or regions of an image: the keys, or else the queries. The selected
// token belongs to the other side: a query, or a word that regions attend to.
const partsOf = map => keySide(map).image ? keySide(map) : querySide(map);
const asks = map => keySide(map).image ? "query" : "key";
const askedOf = map => asks(map) === "query" ? querySide(map) : keySide(map);

// Returns the image if the view shows it.
function overlaidImage(map) {
  return state.view === "heads" || state.view === "neurons" ? undefined : partsOf(map).image;
}

// Returns a canvas with the image at its own size. If `pale`, the image has a quarter of its saturation, as in
// drawing/image_drawing.cc, so that an object as bright as its background stays visible.
function pixelsOf(cells, pale) {
  return kept(cells, pale ? "pale" : "image", () => {
    const canvas = element("canvas", {width: cells.width, height: cells.height});
    const context = canvas.getContext("2d"), to = context.createImageData(cells.width, cells.height);
    for (let at = 0; at < to.data.length; at += 4) {
      const first = twoDigits(cells.pixels, at), second = twoDigits(cells.pixels, at + 2);
      to.data[at] = first >> 4;
      to.data[at + 1] = (first & 15) << 4 | second >> 8;
      to.data[at + 2] = second & 255;
      to.data[at + 3] = 255;
      if (!pale) continue;
      const luma = 0.299 * to.data[at] + 0.587 * to.data[at + 1] + 0.114 * to.data[at + 2];
      for (let channel = at; channel < at + 3; ++channel) to.data[channel] = 0.75 * luma + 0.25 * to.data[channel];
    }
    context.putImageData(to, 0, 0);
    return canvas;
  });
}

// Returns the token whose attention is shown: the token in focus, or the initial token of the page.
function imageQuery(map) {
  const query = state.focus[asks(map)] ?? state.pinned[asks(map)] ?? data.query;
  return query < askedOf(map).tokens.length ? query : 0;
}

// Returns the weights of the cells for a query, or for a key that the cells attend to, in thousandths, row by row.
function cellsOf(map, head, asked) {
  const {first, rows, columns} = partsOf(map).image, values = valuesOf(map, head), keys = keysOf(map).length;
  const weight = asks(map) === "query" ? token => values[asked * keys + token] : token => values[token * keys + asked];
  // The last cells may have no token.
  return Float32Array.from({length: rows * columns}, (_, cell) => first + cell < partsOf(map).tokens.length ? weight(first + cell) : 0);
}

// Returns the weights of the regions for a query, or for a key that the regions attend to, in thousandths.
function regionsOf(map, head, asked) {
  const values = valuesOf(map, head), keys = keysOf(map).length;
  return asks(map) === "query" ? values.subarray(asked * keys, (asked + 1) * keys)
      : Float32Array.from(queriesOf(map), (_, query) => values[query * keys + asked]);
}
const weightsOf = (map, head, asked) => partsOf(map).image.boxes ? regionsOf(map, head, asked) : cellsOf(map, head, asked);

// As in drawing/image_drawing.cc, the value of a cell of the raster is the largest share of the regions that contain
// its center.
function rasterOf({rows, columns, boxes}, shares) {
  return Float32Array.from({length: rows * columns}, (_, index) => {
    const x = (index % columns + 0.5) / columns, y = (Math.floor(index / columns) + 0.5) / rows;
    return Math.max(0, ...boxes.map(([left, top, width, height], region) =>
      x >= left && x < left + width && y >= top && y < top + height ? shares[region] : 0));
  });
}

// Returns 1 for the cells with the largest weights that together have the share `mass` of the total weight, and 0 for
// the other cells. As in DINO, the smallest weights are dropped as long as their sum is at most 1 - `mass` of the
// total.
function maskOf(cells, mass) {
  const order = [...cells.keys()].sort((a, b) => cells[a] - cells[b] || a - b), mask = new Float32Array(cells.length);
  const out = (1 - mass) * cells.reduce((sum, value) => sum + value, 0);
  let sum = 0;
  for (const index of order) mask[index] = (sum += cells[index]) > out ? 1 : 0;
  return mask;
}

// Returns the relative weight of each cell, from 0 to 1.
function sharesOf(map, head, query) {
  const weights = weightsOf(map, head, query), most = Math.max(...weights, 1e-6), {image} = partsOf(map);
  const shares = state.masks ? maskOf(weights, state.mass) : weights.map(value => Math.max(value, 0) / most);
  return image.boxes ? rasterOf(image, shares) : shares;
}

// Returns the overlay of a cell as red, green, blue and opacity.
const coverOf = share => [...ramps.heat[Math.round(255 * share)], 255 * state.opacity];

// Draws the image with at most `side` pixels in width and height. The color of each cell shows its weight.
function paintOverlay(canvas, map, head, query, side) {
  const cells = partsOf(map).image, scale = Math.min(side / cells.width, side / cells.height);
  const width = Math.max(1, Math.round(cells.width * scale)), height = Math.max(1, Math.round(cells.height * scale));
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.drawImage(pixelsOf(cells, true), 0, 0, width, height);
  const cover = element("canvas", {width: cells.columns, height: cells.rows}), small = cover.getContext("2d");
  const pixels = small.createImageData(cells.columns, cells.rows);
  sharesOf(map, head, query).forEach((share, i) => pixels.data.set(coverOf(share), 4 * i));
  small.putImageData(pixels, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(cover, 0, 0, width, height);
}

const cellBox = (cells, index, width, height) => {
  const at = index - cells.first, row = Math.floor(at / cells.columns), column = at % cells.columns;
  return at < 0 || row >= cells.rows ? undefined
      : [column * width / cells.columns, row * height / cells.rows, width / cells.columns, height / cells.rows];
};

// Returns the query of the smallest box that contains a point. The point is given in shares of the image size.
function boxAt(map, x, y) {
  let found, least = Infinity;
  map.record.boxes.forEach(([left, top, width, height], query) => {
    if (x < left || x > left + width || y < top || y > top + height || width * height >= least) return;
    [found, least] = [query, width * height];
  });
  return found;
}

// ---- The view ----

// Lists the tokens outside the image that have attention, such as the class token, without padding.
function buildImage(map) {
  const side = askedOf(map), cells = side.image;
  const padding = index => side.tokens[index] === "padding" && side.special.includes(index);
  const others = side.tokens.map((_, index) => index).filter(index => !padding(index) && (!cells || !cellBox(cells, index, 1, 1)));
  const legend = byId("others").firstElementChild;
  legend.textContent = cells ? "Tokens outside the image" : map.record.boxes.length > 0 ? "Found: click a box, or another cell to see where it looks" : map.relevance ? "Scores" : "Words";
  byId("others").replaceChildren(legend, ...others.map(index => {
    const button = element("button", {type: "button", className: "other"}, element("bdi", {}, side.tokens[index]));
    button.token = index;
    button.addEventListener("click", () => pin({[asks(map)]: index}));
    return button;
  }));
  byId("others").hidden = others.length === 0;
}

function paintImage(map) {
  const canvas = byId("image"), cells = partsOf(map).image, query = imageQuery(map);
  const room = byId("image-frame").clientWidth, side = Math.min(room, 640, 0.8 * Math.max(window.innerHeight, 400));
  const ratio = window.devicePixelRatio || 1;
  paintOverlay(canvas, map, state.head, query, side * ratio);
  if (state.original) canvas.getContext("2d").drawImage(pixelsOf(cells), 0, 0, canvas.width, canvas.height);
  canvas.style.width = `${canvas.width / ratio}px`;
  canvas.style.height = `${canvas.height / ratio}px`;
  const context = canvas.getContext("2d");
  const outline = (box, lines) => {
    for (const [color, width] of lines) {
      context.strokeStyle = color;
      context.lineWidth = width * ratio;
      context.strokeRect(...box);
    }
  };
  const own = querySide(map) === keySide(map), chosen = [["#000", 4], [style("--mark"), 2]];
  const weights = cells.boxes ? regionsOf(map, state.head, query) : [], most = weights.indexOf(Math.max(...weights));
  const boxes = own ? [] : (cells.boxes ?? map.record.boxes).map(box => box.map((share, i) => share * (i % 2 === 0 ? canvas.width : canvas.height)));
  boxes.forEach(box => outline(box, [["#fff", 1]]));
  const box = own ? cellBox(cells, query, canvas.width, canvas.height) : boxes[cells.boxes ? most : query];
  if (box) outline(box, chosen);
  byId("others").querySelectorAll("button").forEach(button =>
    button.setAttribute("aria-pressed", button.token === query));
  byId("mass-value").textContent = `${Math.round(100 * state.mass)}%`;
  byId("mass").disabled = !state.masks;
  canvas.setAttribute("aria-label", `${placeName(map)}: ${map.relevance ? `what the score of ${queriesOf(map)[query]} is due to` : `where ${askedOf(map).tokens[query]} ${asks(map) === "query" ? "looks" : "is seen"}`} in the image of ${cells.boxes ? `${cells.boxes.length} regions` : `${cells.rows} by ${cells.columns} cells`}.${querySide(map).image && asks(map) === "query" && !cells.boxes ? " The arrow keys walk from cell to cell." : ""}`);
}

function imageReadout(map) {
  const query = imageQuery(map), cells = weightsOf(map, state.head, query), {boxes, first} = partsOf(map).image;
  const order = [...cells.keys()].sort((a, b) => cells[b] - cells[a]).slice(0, 3);
  const most = order.map(index => `${named(partsOf(map).tokens[(boxes ? 0 : first) + index])} ${digits(cells[index])}`).join(", ");
  if (asks(map) === "key") return `: ${seenBy(map, query)} ${most}`;
  if (boxes) return `: ${looksAt(map, query)} ${most}`;
  const row = looks(map, state.head, {query}).reduce((sum, [, value]) => sum + value, 0);
  const inside = cells.reduce((sum, value) => sum + value, 0);
  return `: ${looksAt(map, query)} ${most}` +
      (row - inside >= 1 ? `; ${digits(row - inside)} outside the image` : "");
}

function listenToImage() {
  const canvas = byId("image");
  const cellUnder = (event, cells) => {
    const column = Math.floor(event.offsetX / canvas.clientWidth * cells.columns);
    const row = Math.floor(event.offsetY / canvas.clientHeight * cells.rows);
    return row >= 0 && column >= 0 && column < cells.columns ? cells.first + row * cells.columns + column : Infinity;
  };
  // Returns the query of the cell or box under the pointer, or undefined if there is none.
  const queryUnder = event => {
    const map = currentMap(), cells = querySide(map).image;
    if (partsOf(map).image.boxes || asks(map) === "key") return undefined;
    if (!cells) return boxAt(map, event.offsetX / canvas.clientWidth, event.offsetY / canvas.clientHeight);
    const query = cellUnder(event, cells);
    return query < queriesOf(map).length ? query : undefined;
  };
  canvas.addEventListener("pointermove", event => {
    const query = queryUnder(event);
    look(query === undefined ? state.pinned : {query});
  });
  for (const kind of ["pointerleave", "blur"]) canvas.addEventListener(kind, () => look(state.pinned));
  canvas.addEventListener("click", event => {
    const query = queryUnder(event), keys = keySide(currentMap()), encoder = mapsOf().find(map => querySide(map) === keys);
    if (query !== undefined) return pin({query});
    if (querySide(currentMap()) === keys || !encoder || !keys.image || keys.image.boxes) return;
    const cell = cellUnder(event, keys.image);  // outside of all boxes
    if (cell >= keys.tokens.length) return;
    state.kind = encoder.kind;
    state.focus = state.pinned = {query: cell};
    buildKinds();
  });
  canvas.addEventListener("keydown", event => {
    const map = currentMap(), cells = querySide(map).image;
    const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Enter: [0, 0]}[event.key];
    if (!move || !cells || cells.boxes || asks(map) === "key") return;
    event.preventDefault();
    const query = imageQuery(map), at = Math.max(0, query - cells.first), inside = query >= cells.first;
    const row = clamp(Math.floor(at / cells.columns) + (inside ? move[0] : 0), 0, cells.rows - 1);
    const column = clamp(at % cells.columns + (inside ? move[1] : 0), 0, cells.columns - 1);
    const to = {query: Math.min(cells.first + row * cells.columns + column, queriesOf(map).length - 1)};
    event.key === "Enter" ? pin(inside ? to : {query}) : look(to);
  });
  const original = byId("original"), show = shown => { state.original = shown; paint(); };
  for (const kind of ["pointerenter", "focus"]) original.addEventListener(kind, () => show(true));
  for (const kind of ["pointerleave", "blur"]) original.addEventListener(kind, () => show(false));
  byId("opacity").value = 100 * state.opacity;
  byId("opacity").addEventListener("input", event => { state.opacity = event.target.value / 100; paint(); });
  byId("masks").checked = state.masks;
  byId("mass").value = 100 * state.mass;
  byId("masks").addEventListener("change", event => { state.masks = event.target.checked; paint(); });
  byId("mass").addEventListener("input", event => { state.mass = event.target.value / 100; paint(); });
  byId("save-image").addEventListener("click", () => saveImage(canvas));
}
