// Paints the state of weights.js.

// Gives a canvas this size on the page, by default at the screen's own resolution, and its cleared context.
function sized(canvas, width, height, scale = window.devicePixelRatio || 1) {
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return context;
}

function paint() {
  const map = currentMap();
  paintHeads(map);
  paintTokens(map, "query", byId("queries"));
  paintTokens(map, "key", byId("keys"));
  paintLines(map);
  paintMap(map);
  byId("largest").textContent = digits(largest(map, state.head));
  paintReadout(map);
}

// Each tile: the map, in colours that all of them share, the focus as a frame, and beneath where this head looks most.
function paintHeads(map) {
  const most = largestOfAll(map);
  const {query, key} = state.focus, queries = queriesOf(map), keys = keysOf(map);
  byId("heads").querySelectorAll("label").forEach((tile, index) => {
    const head = index - 1;
    tile.style.setProperty("--color", headColor(head, map.heads));
    const frame = tile.querySelector(".image"), top = tile.querySelector(".top");
    frame.style.aspectRatio = `${keys.length} / ${queries.length}`;
    // A copy: the image itself is also drawn from, as the large map.
    const copy = element("canvas", {width: keys.length, height: queries.length});
    copy.getContext("2d").drawImage(image(map, head, most), 0, 0);
    frame.replaceChildren(copy);
    top.replaceChildren();
    if (state.focus === NONE) return;
    const mark = element("span", {className: "mark"});
    const inset = (index, count) => index === undefined ? ["0%", "0%"]
        : [`${100 * index / count}%`, `${100 * (count - index - 1) / count}%`];
    [mark.style.top, mark.style.bottom] = inset(query, queries.length);
    [mark.style.left, mark.style.right] = inset(key, keys.length);
    frame.append(mark);
    const [other, value] = looks(map, head, state.focus)[0];
    top.append(element("bdi", {}, query !== undefined ? `→ ${keys[other]}` : `← ${queries[other]}`),
               element("span", {}, digits(value)));
  });
}

// The tokens across from the one in focus show the weight between the two.
function paintTokens(map, side, list) {
  const {query, key} = state.focus, fromQuery = query !== undefined;
  const across = state.focus !== NONE && (side === "key") === fromQuery;
  const count = Math.max(queriesOf(map).length, keysOf(map).length);
  list.style.setProperty("--row", `${rowHeight(count)}px`);
  const most = largest(map, state.head);
  list.querySelectorAll("button").forEach((button, index) => {
    button.classList.toggle("here", index === (side === "query" ? query : key));
    button.setAttribute("aria-pressed", index === state.pinned[side]);
    const value = button.querySelector(".value");
    value.textContent = "";
    button.style.background = button.style.color = "";
    if (!across) return;
    const [q, k] = fromQuery ? [query, index] : [index, key];
    if (masked(map, q, k)) return value.textContent = "hidden";
    const thousandths = weight(map, state.head, q, k);
    value.textContent = digits(thousandths);
    button.style.background = `rgb(${rampColor(thousandths, most)})`;
    button.style.color = thousandths > 0.45 * most ? (theme() === "dark" ? "#10141b" : "#fff") : "";
  });
}

const rowHeight = count => count <= 40 ? 27 : 21;

function paintLines(map) {
  const queries = queriesOf(map).length, keys = keysOf(map).length, row = rowHeight(Math.max(queries, keys));
  const canvas = byId("lines");
  canvas.style.width = "100%";
  const width = canvas.clientWidth, context = sized(canvas, width, row * Math.max(queries, keys));
  canvas.style.width = "100%";
  context.lineCap = "round";
  const heads = state.head === ALL ? [...Array(map.heads).keys()] : [state.head];
  const focused = state.focus !== NONE;
  const most = state.head === ALL ? largestOfAll(map) : largest(map, state.head);
  for (const head of heads) {
    context.strokeStyle = headColor(head, map.heads);
    // Side by side where all heads are shown, so that equal lines do not cover one another.
    const shift = heads.length > 1 ? (head / (heads.length - 1) - 0.5) * Math.min(row * 0.5, 2 * heads.length) : 0;
    for (let query = 0; query < queries; ++query) {
      if (state.focus.query !== undefined && query !== state.focus.query) continue;
      for (let key = 0; key < keys; ++key) {
        if (state.focus.query === undefined && state.focus.key !== undefined && key !== state.focus.key) continue;
        const value = Math.min(weight(map, head, query, key) / most, 1);
        if (value < 0.02) continue;
        const from = (query + 0.5) * row + shift, to = (key + 0.5) * row + shift;
        context.globalAlpha = (focused ? 0.15 + 0.85 * value : value ** 1.3 * (heads.length > 1 ? 0.7 : 1));
        context.lineWidth = focused ? 1 + 3 * value : 1.5;
        context.beginPath();
        context.moveTo(2, from);
        context.bezierCurveTo(width * 0.45, from, width * 0.55, to, width - 2, to);
        context.stroke();
      }
    }
  }
}

// Where the large map lies in its canvas; a pointer's cell is found by it.
const place = {left: 0, top: 0, cell: 1, step: 1, upwards: false};
const WIDEST_LABEL = 110;

function layOutMap(measure, queries, keys) {
  const widest = tokens => Math.min(Math.max(...tokens.map(token => measure.measureText(token).width)), WIDEST_LABEL);
  const count = Math.max(queries.length, keys.length), room = byId("map-frame").clientWidth;
  place.left = widest(queries) + 8;
  place.cell = clamp(Math.floor((room - place.left - 2) / keys.length), count <= 80 ? 15 : Math.max(2, 1120 / count), 48);
  place.step = Math.ceil(13 / place.cell);  // of the tokens that are labelled: all of them up to 80
  place.upwards = widest(keys) > place.cell * place.step - 4;
  place.top = place.upwards ? widest(keys) + 10 : 22;
}

function paintMap(map) {
  const queries = queriesOf(map), keys = keysOf(map), canvas = byId("map");
  const font = `12.5px ${getComputedStyle(document.body).fontFamily}`;
  const measure = canvas.getContext("2d");
  measure.font = font;
  layOutMap(measure, queries, keys);
  const {width, height} = sizeOfMap(map), context = sized(canvas, width, height);
  context.font = font;
  paintMapAt(context, map);
  canvas.setAttribute("aria-label", `${placeName(map)}: ${queries.length} queries by ${keys.length} keys. The arrow keys walk from cell to cell.`);
}

const sizeOfMap = map => ({width: place.left + place.cell * keysOf(map).length + 2,
                           height: place.top + place.cell * queriesOf(map).length + 2});

// The labels, the cells and the focus, from the context's origin on.
function paintMapAt(context, map) {
  const queries = queriesOf(map), keys = keysOf(map), {left, top, cell} = place;
  const width = cell * keys.length, height = cell * queries.length;
  paintLabels(context, queries, keys);
  context.translate(left, top);
  paintCells(context, map, width, height);
  const {query, key} = state.focus;
  context.strokeStyle = style("--accent");
  context.lineWidth = 2;
  if (query !== undefined) context.strokeRect(0, query * cell, width, cell);
  if (key !== undefined) context.strokeRect(key * cell, 0, cell, height);
}

function paintLabels(context, queries, keys) {
  const {left, top, cell, step, upwards} = place, {query, key} = state.focus;
  queries.forEach((token, i) => {
    if (i % step === 0 || i === query) paintLabel(context, token, left - 6, top + (i + 0.5) * cell, "right", i === query);
  });
  keys.forEach((token, i) => {
    if (i % step !== 0 && i !== key) return;
    context.save();
    context.translate(left + (i + 0.5) * cell, top - (upwards ? 6 : 11));
    if (upwards) context.rotate(-Math.PI / 2);
    paintLabel(context, token, 0, 0, upwards ? "left" : "center", i === key);
    context.restore();
  });
}

// One line of text beside, on both sides of or before x; too long a one is cut.
function paintLabel(context, token, x, y, align, strong) {
  const letters = Array.from(token);
  let text = token;
  while (letters.length > 1 && context.measureText(text).width > WIDEST_LABEL) {
    letters.pop();
    text = letters.join("") + "…";
  }
  const width = context.measureText(text).width;
  const begin = x - {left: 0, center: width / 2, right: width}[align];
  // The mark of a word's beginning is pale, as in the lists; it stands on the left unless the word runs from the right.
  const mark = text.startsWith("\u2581") && !/[\u0590-\u08ff]/.test(text) ? "\u2581" : "";
  context.fillStyle = style(strong ? "--accent" : "--ink");
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.globalAlpha = 0.35;
  context.fillText(mark, begin, y);
  context.globalAlpha = 1;
  context.fillText(text.slice(mark.length), begin + context.measureText(mark).width, y);
}

// Hatching, and over it the weights, which leave it visible where they are masked.
function paintCells(context, map, width, height) {
  const {cell} = place;
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
  context.drawImage(image(map, state.head, largest(map, state.head)), 0, 0, width, height);
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

// ---- In words ----

const headName = (map, head) => head === ALL ? `mean of ${map.heads} heads` : `head ${head + 1}`;

const placeName = map => `${map.title}, layer ${map.layer}, ${headName(map, state.head)}`;

function paintReadout(map) {
  const {query, key} = state.focus, queries = queriesOf(map), keys = keysOf(map);
  const where = placeName(map);
  const name = token => `\u2068“${token}”\u2069`;  // isolated: its direction stays its own
  let text = "";
  if (query !== undefined && key !== undefined) {
    const value = masked(map, query, key) ? "hidden, a later token" : digits(weight(map, state.head, query, key));
    text = `: ${name(queries[query])} looks at ${name(keys[key])}: ${value}`;
  } else if (state.focus !== NONE) {
    const others = query !== undefined ? keys : queries;
    const most = looks(map, state.head, state.focus).filter(([, value]) => value >= 1).slice(0, 5)
        .map(([other, value]) => `${name(others[other])} ${digits(value)}`).join(", ") || "nothing";
    text = query !== undefined ? `: ${name(queries[query])} looks at ${most}` : `: ${name(keys[key])} is seen by ${most}`;
  }
  byId("readout").textContent = where + text;
}

function paintRamp() {
  const context = byId("ramp").getContext("2d"), pixels = context.createImageData(256, 1);
  ramps[theme()].forEach((color, i) => pixels.data.set([...color, 255], 4 * i));
  context.putImageData(pixels, 0, 0);
}

// ---- The picture to save ----

// The map as it is shown, with its title and its scale.
function picture() {
  const MARGIN = 16, HEADER = 64, RAMP = 128;
  const map = currentMap(), size = sizeOfMap(map), canvas = element("canvas"), measure = canvas.getContext("2d");
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
  paintMapAt(context, map);
  return canvas;
}
