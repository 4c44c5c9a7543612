// The map of a head: rows are queries, columns are keys. For long inputs only the visible part is drawn, and the labels
// always remain visible.

const mostShown = map => Math.max(shownOf(querySide(map)).length, shownOf(keySide(map)).length);
const isLong = map => mostShown(map) > LONG;
const isHuge = map => map.heads * queriesOf(map).length * keysOf(map).length > 4e6;

// The position of the map in its canvas. The upper left corner of the canvas is (x, y) of the whole map. The position
// is also used to find the cell under the pointer.
const place = {left: 0, top: 0, cell: 1, step: 1, upwards: false, x: 0, y: 0};
const WIDEST_LABEL = 110;

function widestLabel(side, context) {
  return kept(side, `widest ${state.hide} ${context.font}`, () => Math.min(WIDEST_LABEL,
    shownOf(side).reduce((widest, index) => Math.max(widest, context.measureText(side.tokens[index]).width), 0)));
}

function layOutMap(context, map) {
  const queries = widestLabel(querySide(map), context), keys = widestLabel(keySide(map), context);
  const room = byId("map-frame").clientWidth;
  place.left = queries + 8;
  const fits = Math.floor((room - place.left - 2) / shownOf(keySide(map)).length);
  place.cell = isLong(map) ? clamp(clamp(fits, 2, 15) * 2 ** state.zoom, 1, 48) : clamp(fits, mostShown(map) <= 80 ? 15 : 9, 48);
  place.step = Math.ceil(13 / place.cell);  // every step-th token is labeled
  place.upwards = keys > place.cell * place.step - 4;
  place.top = place.upwards ? keys + 10 : 22;
}

const sizeOfMap = map => ({width: place.left + place.cell * shownOf(keySide(map)).length + 2,
                           height: place.top + place.cell * shownOf(querySide(map)).length + 2});

function paintMap(map) {
  const canvas = byId("map"), frame = byId("map-frame"), long = isLong(map);
  const font = `12.5px ${getComputedStyle(document.body).fontFamily}`, measure = canvas.getContext("2d");
  frame.classList.toggle("long", long);
  byId("zoom").hidden = !long;
  measure.font = font;
  layOutMap(measure, map);
  const whole = sizeOfMap(map);
  byId("map-room").style.width = `${whole.width}px`;
  byId("map-room").style.height = `${whole.height}px`;
  const size = long ? {width: Math.min(whole.width, frame.clientWidth), height: Math.min(whole.height, frame.clientHeight)}
      : whole;
  [place.x, place.y] = long ? [frame.scrollLeft, frame.scrollTop] : [0, 0];
  const context = sized(canvas, size.width, size.height);
  context.font = font;
  paintMapAt(context, map, size);
  canvas.setAttribute("aria-label", `${placeName(map)}: ${shownOf(querySide(map)).length} queries by ${shownOf(keySide(map)).length} keys. The arrow keys walk from cell to cell.`);
}

// Returns the tokens between two coordinates of the map, and the index of the first one.
function inSight(tokens, begin, end) {
  const first = clamp(Math.floor(begin / place.cell), 0, tokens.length);
  return {first, tokens: tokens.slice(first, Math.max(first, Math.ceil(end / place.cell)))};
}

// Draws the labels, the cells and the focus within this size, starting at the context's origin.
function paintMapAt(context, map, size) {
  const {left, top, cell, x, y} = place;
  const queries = inSight(shownOf(querySide(map)), y, y + size.height - top);
  const keys = inSight(shownOf(keySide(map)), x, x + size.width - left);
  paintLabels(context, map, queries, keys);
  context.save();
  context.beginPath();
  context.rect(left - 1, top - 1, size.width - left + 1, size.height - top + 1);
  context.clip();
  context.translate(left + keys.first * cell - x, top + queries.first * cell - y);
  paintCells(context, map, queries.tokens, keys.tokens);
  const [query, key] = [queries.tokens.indexOf(state.focus.query), keys.tokens.indexOf(state.focus.key)];
  context.strokeStyle = style("--accent");
  context.lineWidth = 2;
  if (query >= 0) context.strokeRect(0, query * cell, cell * keys.tokens.length, cell);
  if (key >= 0) context.strokeRect(key * cell, 0, cell, cell * queries.tokens.length);
  context.restore();
}

function paintLabels(context, map, queries, keys) {
  const {left, top, cell, step, upwards, x, y} = place, {query, key} = state.focus;
  queries.tokens.forEach((token, i) => {
    const at = top + (queries.first + i + 0.5) * cell - y;
    if (((queries.first + i) % step === 0 || token === query) && at >= top)
      paintLabel(context, queriesOf(map)[token], left - 6, at, "right", token === query);
  });
  keys.tokens.forEach((token, i) => {
    const at = left + (keys.first + i + 0.5) * cell - x;
    if (((keys.first + i) % step !== 0 && token !== key) || at < left) return;
    context.save();
    context.translate(at, top - (upwards ? 6 : 11));
    if (upwards) context.rotate(-Math.PI / 2);
    paintLabel(context, keysOf(map)[token], 0, 0, upwards ? "left" : "center", token === key);
    context.restore();
  });
}

// Draws a line of text that begins at, is centered at, or ends at x. A text that is too long is truncated.
function paintLabel(context, token, x, y, align, strong) {
  const letters = Array.from(token);
  let text = token;
  while (letters.length > 1 && context.measureText(text).width > WIDEST_LABEL) {
    letters.pop();
    text = letters.join("") + "…";
  }
  const width = context.measureText(text).width;
  const begin = x - {left: 0, center: width / 2, right: width}[align];
  // The mark of the beginning of a word is pale, as in the lists. It is on the left, or on the right for right-to-left
  // text.
  const mark = text.startsWith("\u2581") && !/[\u0590-\u08ff]/.test(text) ? "\u2581" : "";
  context.fillStyle = style(strong ? "--accent" : "--ink");
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.globalAlpha = 0.35;
  context.fillText(mark, begin, y);
  context.globalAlpha = 1;
  context.fillText(text.slice(mark.length), begin + context.measureText(mark).width, y);
}

// Draws hatching, and the weights on top of it. The hatching remains visible in masked cells.
function paintCells(context, map, queries, keys) {
  const {cell} = place, width = cell * keys.length, height = cell * queries.length;
  context.save();
  context.beginPath();
  context.rect(0, 0, width, height);
  context.clip();
  context.strokeStyle = style("--hatch");
  context.beginPath();
  for (let x = -height; x < width; x += 6) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
  context.imageSmoothingEnabled = false;
  if (queries.length > 0 && keys.length > 0)
    context.drawImage(heatmap(map, state.head, largest(map, state.head), queries, keys), 0, 0, width, height);
  if (cell >= 8) {
    context.strokeStyle = style("--card");
    context.beginPath();
    for (let x = cell; x < width; x += cell) context.rect(x, -1, 0, height + 2);
    for (let y = cell; y < height; y += cell) context.rect(-1, y, width + 2, 0);
    context.stroke();
  }
  context.restore();
  context.strokeStyle = style("--rule");
  context.strokeRect(0, 0, width, height);
}

function paintRamp() {
  for (const [id, ramp] of [["ramp", ramps[theme()]], ["heat", ramps.heat]]) {
    const context = byId(id).getContext("2d"), pixels = context.createImageData(256, 1);
    ramp.forEach((color, i) => pixels.data.set([...color, 255], 4 * i));
    context.putImageData(pixels, 0, 0);
  }
}

// ---- Pointer ----

function cellAt(event) {
  const map = currentMap(), queries = shownOf(querySide(map)), keys = shownOf(keySide(map));
  if (event.offsetX < place.left || event.offsetY < place.top) return state.pinned;
  const key = keys[Math.floor((event.offsetX - place.left + place.x) / place.cell)];
  const query = queries[Math.floor((event.offsetY - place.top + place.y) / place.cell)];
  return key !== undefined && query !== undefined ? {query, key} : state.pinned;
}

// Scrolls a long map so that the focus is visible.
function revealInMap({query, key}) {
  const map = currentMap(), frame = byId("map-frame");
  if (!isLong(map)) return;
  const reveal = (index, side, margin, scroll, room) => {
    const at = place.cell * shownOf(side).indexOf(index), end = at + place.cell + margin + 2 - room;
    if (index !== undefined) frame[scroll] = clamp(frame[scroll], end, at);
  };
  reveal(query, querySide(map), place.top, "scrollTop", frame.clientHeight);
  reveal(key, keySide(map), place.left, "scrollLeft", frame.clientWidth);
}

function walkMap(event) {
  const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Enter: [0, 0]}[event.key];
  if (!move) return;
  event.preventDefault();
  const map = currentMap(), started = state.focus !== NONE;
  const step = (side, index, by) => {
    const shown = shownOf(side), at = Math.max(0, shown.indexOf(index));
    return shown[clamp(at + (started ? by : 0), 0, shown.length - 1)];
  };
  const to = {query: step(querySide(map), state.focus.query, move[0]), key: step(keySide(map), state.focus.key, move[1])};
  revealInMap(to);
  event.key === "Enter" ? pin(to) : look(to);
}

function listenToMap() {
  const canvas = byId("map");
  canvas.addEventListener("pointermove", event => look(cellAt(event)));
  for (const kind of ["pointerleave", "blur"]) canvas.addEventListener(kind, () => look(state.pinned));
  canvas.addEventListener("click", event => cellAt(event) === state.pinned || pin(cellAt(event)));
  canvas.addEventListener("keydown", walkMap);
  byId("map-frame").addEventListener("scroll", () => isLong(currentMap()) && paintMap(currentMap()));
  const zoom = by => {
    state.zoom = clamp(state.zoom + by, -3, 5);
    paintMap(currentMap());
  };
  byId("zoom-in").addEventListener("click", () => zoom(1));
  byId("zoom-out").addEventListener("click", () => zoom(-1));
}

// ---- The image to save ----

// Returns an image of the displayed map, with its title and scale.
function image() {
  const MARGIN = 16, HEADER = 64, RAMP = 128;
  const map = currentMap(), canvas = element("canvas"), measure = canvas.getContext("2d"), shown = byId("map").style;
  const size = {width: parseFloat(shown.width), height: parseFloat(shown.height)};
  const family = getComputedStyle(document.body).fontFamily;
  const [title, small] = [`600 17px ${family}`, `12.5px ${family}`];
  const where = placeName(map) + (map.causal ? "; hatched: later tokens" : "");
  const widthOf = (text, font) => { measure.font = font; return measure.measureText(text).width; };
  const width = Math.max(size.width, widthOf(document.title, title), widthOf(where, small), RAMP + 80) + 2 * MARGIN;
  const height = HEADER + size.height + 2 * MARGIN;
  const scale = Math.min(Math.max(window.devicePixelRatio || 1, 2), 8192 / Math.max(width, height));
  const context = sized(canvas, width, height, scale);
  const write = (text, font, x, y) => { context.font = font; context.fillText(text, x, y); };
  context.fillStyle = style("--card");
  context.fillRect(0, 0, width, height);
  context.fillStyle = style("--ink");
  context.textBaseline = "middle";
  write(document.title, title, MARGIN, MARGIN + 8);
  write(where, small, MARGIN, MARGIN + 30);
  write("0", small, MARGIN, MARGIN + 50);
  context.drawImage(byId("ramp"), MARGIN + 14, MARGIN + 45, RAMP, 10);
  write(digits(largest(map, state.head)), small, MARGIN + RAMP + 20, MARGIN + 50);
  context.translate(MARGIN, MARGIN + HEADER);
  context.font = small;
  paintMapAt(context, map, size);
  return canvas;
}

function saveImage(canvas = image()) {
  const map = currentMap(), head = state.head === ALL ? "mean" : `head${state.head + 1}`;
  const title = document.title.replace(/[^\p{L}\p{N}.-]+/gu, "_");
  canvas.toBlob(blob => {
    const link = element("a", {href: URL.createObjectURL(blob), download: `${title}-${map.kind}${map.layer}-${head}.png`});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
