"use strict";
// The page on which one looks at attention. Its data, written by attention_page.cc:
//   source, target  the tokens, as labels
//   maps            {kind, title, queries, keys, causal, layer, heads, weights}; queries and keys say which sentence;
//                   weights is [head, query, key] in thousandths, each two digits of base 36
//   ramps           for the themes light and dark, 256 colours of weights from 0 to 1, as six hexadecimal digits each
// There is one state; a choice changes it and builds the parts anew, a token or a cell in focus only paints them.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const ALL = -1;        // as a head: the mean of all of them
const NONE = {};       // as a focus: neither a query nor a key
const state = {kind: data.maps[0].kind, layer: data.maps[0].layer, head: ALL, focus: NONE, pinned: NONE};

const byId = id => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const digits = thousandths => (thousandths / 1000).toFixed(3);
const theme = () => document.documentElement.dataset.theme;
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// ---- The weights ----

const currentMap = () => data.maps.find(map => map.kind === state.kind && map.layer === state.layer);
const queriesOf = map => data[map.queries];
const keysOf = map => data[map.keys];
const masked = (map, query, key) => map.causal && key > query;

// In thousandths; decoded when first asked for.
function weight(map, head, query, key) {
  const queries = queriesOf(map).length, keys = keysOf(map).length;
  if (!map.values) {
    map.values = new Uint16Array(map.heads * queries * keys);
    for (let i = 0; i < map.values.length; ++i) map.values[i] = parseInt(map.weights.slice(2 * i, 2 * i + 2), 36);
  }
  if (head !== ALL) return map.values[(head * queries + query) * keys + key];
  let sum = 0;
  for (let each = 0; each < map.heads; ++each) sum += weight(map, each, query, key);
  return sum / map.heads;
}

// The keys a query looks at, or the queries that look at a key, as [index, thousandths], the largest first.
function looks(map, head, focus) {
  const fromQuery = focus.query !== undefined;
  const others = (fromQuery ? keysOf(map) : queriesOf(map)).map((_, other) => fromQuery
      ? [other, weight(map, head, focus.query, other)] : [other, weight(map, head, other, focus.key)]);
  return others.sort((a, b) => b[1] - a[1]);
}

// ---- Colours ----

const ramps = Object.fromEntries(Object.entries(data.ramps).map(([name, hex]) =>
  [name, Array.from({length: 256}, (_, i) => [0, 2, 4].map(at => parseInt(hex.substr(6 * i + at, 2), 16)))]));
const rampColor = thousandths => ramps[theme()][clamp(Math.round(thousandths * 0.255), 0, 255)];

// Heads are told apart by hue, evenly around the circle.
function headColor(head, heads) {
  return head === ALL ? style("--accent") : `oklch(${style("--line")} ${Math.round(25 + 360 * head / heads)})`;
}

// A map as an image of one pixel a weight; what is masked is transparent.
function image(map, head) {
  map.images ??= {};
  const name = theme() + head;
  if (map.images[name]) return map.images[name];
  const width = keysOf(map).length, height = queriesOf(map).length;
  const canvas = element("canvas", {width, height});
  const context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
  for (let query = 0, at = 0; query < height; ++query) {
    for (let key = 0; key < width; ++key, at += 4) {
      if (!masked(map, query, key)) pixels.data.set([...rampColor(weight(map, head, query, key)), 255], at);
    }
  }
  context.putImageData(pixels, 0, 0);
  return map.images[name] = canvas;
}

// ---- Choosing attention, layer and head ----

function radio(name, value, checked, label, choose) {
  const input = element("input", {type: "radio", name, value, checked});
  input.addEventListener("change", () => choose(value));
  return element("label", {}, input, label);
}

function buildKinds() {
  for (const kind of new Set(data.maps.map(map => map.kind))) {
    const title = data.maps.find(map => map.kind === kind).title;
    byId("kinds").append(radio("kind", kind, kind === state.kind, title, chosen => {
      state.kind = chosen;
      state.focus = state.pinned = NONE;
      buildLayers();
    }));
  }
}

function buildLayers() {
  const layers = data.maps.filter(map => map.kind === state.kind).map(map => map.layer);
  if (!layers.includes(state.layer)) state.layer = layers[0];
  byId("layers").replaceChildren(byId("layers").firstElementChild, ...layers.map(layer =>
    radio("layer", layer, layer === state.layer, `${layer}`, chosen => {
      state.layer = chosen;
      buildMap();
    })));
  buildMap();
}

function buildMap() {
  const map = currentMap();
  if (state.head >= map.heads) state.head = ALL;
  buildHeads(map);
  buildTokens(map, "query", queriesOf(map), byId("queries"));
  buildTokens(map, "key", keysOf(map), byId("keys"));
  byId("query-side").textContent = `query (${map.queries}) looks …`;
  byId("key-side").textContent = `… at key (${map.keys})`;
  byId("hidden-legend").hidden = !map.causal;
  paint();
}

function buildHeads(map) {
  const tiles = [];
  for (let head = ALL; head < map.heads; ++head) {
    const name = head === ALL ? `mean of ${map.heads}` : `head ${head + 1}`;
    const label = radio("head", head, head === state.head, "", chosen => {
      state.head = chosen;
      paint();
    });
    label.className = "tile";
    label.firstChild.setAttribute("aria-label", head === ALL ? "all heads" : name);
    label.append(element("span", {className: "name"}, element("i"), name),
                 element("span", {className: "image"}), element("span", {className: "top"}));
    tiles.push(label);
  }
  byId("heads").replaceChildren(byId("heads").firstElementChild, ...tiles);
}

// ---- The focus: a token, or a cell of the map ----

const sameFocus = (a, b) => a.query === b.query && a.key === b.key;

function look(focus) {
  if (sameFocus(focus, state.focus)) return;
  state.focus = focus;
  paint();
}

function pin(focus) {
  state.pinned = sameFocus(focus, state.pinned) ? NONE : focus;
  state.focus = focus;
  paint();
}

// A list of buttons of which one is in the tab order; the arrows walk through them.
function buildTokens(map, side, tokens, list) {
  list.replaceChildren(...tokens.map((token, index) => {
    const text = element("bdi", {title: token});
    for (const part of token.split(/(\u2581)/)) {
      if (part) text.append(part === "\u2581" ? element("span", {className: "begin"}, part) : part);
    }
    const button = element("button", {className: "token", type: "button", tabIndex: index === 0 ? 0 : -1}, text,
                           element("span", {className: "value"}));
    button.setAttribute("aria-label", `${side} ${index + 1} of ${tokens.length}: ${token}`);
    button.addEventListener("pointerenter", () => look({[side]: index}));
    button.addEventListener("focus", () => look({[side]: index}));
    button.addEventListener("blur", () => look(state.pinned));
    button.addEventListener("click", () => pin({[side]: index}));
    return element("li", {}, button);
  }));
}

function walkTokens(event) {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const last = buttons.length - 1, at = buttons.indexOf(event.target);
  const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last}[event.key];
  if (to !== undefined && at >= 0) {
    const next = buttons[clamp(to, 0, last)];
    buttons[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    byId(event.key === "ArrowLeft" ? "queries" : "keys").querySelector("[tabindex='0']").focus();
  } else {
    return;
  }
  event.preventDefault();
}

// ---- Painting ----

// Gives a canvas this size on the page at the screen's own resolution, and its cleared context.
function sized(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
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
  paintReadout(map);
}

// Each tile: the map, the focus as a frame, and beneath where this head looks most.
function paintHeads(map) {
  const {query, key} = state.focus, queries = queriesOf(map), keys = keysOf(map);
  byId("heads").querySelectorAll("label").forEach((tile, index) => {
    const head = index - 1;
    tile.style.setProperty("--color", headColor(head, map.heads));
    const frame = tile.querySelector(".image"), top = tile.querySelector(".top");
    frame.style.aspectRatio = `${keys.length} / ${queries.length}`;
    // A copy: the image itself is also drawn from, as the large map.
    const copy = element("canvas", {width: keys.length, height: queries.length});
    copy.getContext("2d").drawImage(image(map, head), 0, 0);
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
    button.style.background = `rgb(${rampColor(thousandths)})`;
    button.style.color = thousandths > 450 ? (theme() === "dark" ? "#10141b" : "#fff") : "";
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
  for (const head of heads) {
    context.strokeStyle = headColor(head, map.heads);
    // Side by side where all heads are shown, so that equal lines do not cover one another.
    const shift = heads.length > 1 ? (head / (heads.length - 1) - 0.5) * Math.min(row * 0.5, 2 * heads.length) : 0;
    for (let query = 0; query < queries; ++query) {
      if (state.focus.query !== undefined && query !== state.focus.query) continue;
      for (let key = 0; key < keys; ++key) {
        if (state.focus.query === undefined && state.focus.key !== undefined && key !== state.focus.key) continue;
        const value = weight(map, head, query, key) / 1000;
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

// Where the large map lies in its canvas; also says which cell a pointer is on.
const place = {left: 0, top: 0, cell: 1};

function cut(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && context.measureText(letters.join("") + "…").width > width) letters.pop();
  return letters.join("") + "…";
}

function paintMap(map) {
  const queries = queriesOf(map), keys = keysOf(map), count = Math.max(queries.length, keys.length);
  const canvas = byId("map"), measure = canvas.getContext("2d");
  const least = count <= 80 ? 15 : Math.max(2, 1120 / count), widestLabel = 110;
  const font = `12.5px ${getComputedStyle(document.body).fontFamily}`;
  measure.font = font;
  const widest = tokens => Math.min(Math.max(...tokens.map(token => measure.measureText(token).width)), widestLabel);
  place.left = widest(queries) + 8;
  place.cell = clamp(Math.floor((byId("map-frame").clientWidth - place.left - 2) / keys.length), least, 48);
  const step = Math.ceil(13 / place.cell), upwards = widest(keys) > place.cell * step - 4;
  place.top = upwards ? widest(keys) + 10 : 22;
  const {left, top, cell} = place, width = cell * keys.length, height = cell * queries.length;

  const context = sized(canvas, left + width + 2, top + height + 2);
  context.font = font;
  context.textBaseline = "middle";
  const ink = style("--ink"), accent = style("--accent");
  const label = (text, x, y, align, strong) => {
    const shown = cut(context, text, widestLabel), width = context.measureText(shown).width;
    const begin = x - {left: 0, center: width / 2, right: width}[align];
    context.fillStyle = strong ? accent : ink;
    context.textAlign = "left";
    // The mark of a word's beginning is pale, as in the lists; it stands on the left unless the word runs from there.
    const mark = shown.startsWith("\u2581") && !/[\u0590-\u08ff]/.test(shown) ? "\u2581" : "";
    context.globalAlpha = 0.35;
    context.fillText(mark, begin, y);
    context.globalAlpha = 1;
    context.fillText(shown.slice(mark.length), begin + context.measureText(mark).width, y);
  };
  queries.forEach((token, i) => {
    if (i % step === 0 || i === state.focus.query) {
      label(token, left - 6, top + (i + 0.5) * cell, "right", i === state.focus.query);
    }
  });
  keys.forEach((token, i) => {
    if (i % step !== 0 && i !== state.focus.key) return;
    context.save();
    context.translate(left + (i + 0.5) * cell, top - (upwards ? 6 : 11));
    if (upwards) context.rotate(-Math.PI / 2);
    label(token, 0, 0, upwards ? "left" : "center", i === state.focus.key);
    context.restore();
  });

  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = style("--hatch");
  context.beginPath();
  for (let x = left - height; x < left + width; x += 6) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.imageSmoothingEnabled = false;
  context.drawImage(image(map, state.head), left, top, width, height);
  if (cell >= 8) {
    context.strokeStyle = style("--card");
    context.beginPath();
    for (let i = 1; i < keys.length; ++i) context.rect(left + i * cell, top - 1, 0, height + 2);
    for (let i = 1; i < queries.length; ++i) context.rect(left - 1, top + i * cell, width + 2, 0);
    context.stroke();
  }
  context.restore();
  context.strokeStyle = style("--rule");
  context.strokeRect(left, top, width, height);

  const {query, key} = state.focus;
  context.strokeStyle = accent;
  context.lineWidth = 2;
  if (query !== undefined) context.strokeRect(left, top + query * cell, width, cell);
  if (key !== undefined) context.strokeRect(left + key * cell, top, cell, height);
  canvas.setAttribute("aria-label", `${map.title}, layer ${map.layer}, ${headName(map, state.head)}: ${queries.length} ` +
    `queries by ${keys.length} keys. The arrow keys walk from cell to cell.`);
}

const headName = (map, head) => head === ALL ? `mean of ${map.heads} heads` : `head ${head + 1}`;

function paintReadout(map) {
  const {query, key} = state.focus, queries = queriesOf(map), keys = keysOf(map);
  const where = `${map.title}, layer ${map.layer}, ${headName(map, state.head)}`;
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

// ---- Events ----

function listenToMap() {
  const canvas = byId("map");
  const cellAt = event => {
    const map = currentMap();
    const key = Math.floor((event.offsetX - place.left) / place.cell);
    const query = Math.floor((event.offsetY - place.top) / place.cell);
    const inside = key >= 0 && query >= 0 && key < keysOf(map).length && query < queriesOf(map).length;
    return inside ? {query, key} : state.pinned;
  };
  canvas.addEventListener("pointermove", event => look(cellAt(event)));
  canvas.addEventListener("pointerleave", () => look(state.pinned));
  canvas.addEventListener("click", event => cellAt(event) === state.pinned || pin(cellAt(event)));
  canvas.addEventListener("keydown", event => {
    const map = currentMap(), {query = 0, key = 0} = state.focus, started = state.focus !== NONE;
    const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Enter: [0, 0]}[event.key];
    if (!move) return;
    event.preventDefault();
    const to = {query: clamp(query + (started ? move[0] : 0), 0, queriesOf(map).length - 1),
                key: clamp(key + (started ? move[1] : 0), 0, keysOf(map).length - 1)};
    event.key === "Enter" ? pin(to) : look(to);
  });
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", dark);
  paintRamp();
}

const systemDark = matchMedia("(prefers-color-scheme: dark)");
setTheme(systemDark.matches);
systemDark.addEventListener("change", () => { setTheme(systemDark.matches); paint(); });
byId("theme").addEventListener("click", () => { setTheme(theme() === "light"); paint(); });
for (const id of ["queries", "keys"]) {
  byId(id).addEventListener("keydown", walkTokens);
  byId(id).addEventListener("pointerleave", () => look(state.pinned));
}
document.addEventListener("keydown", event => {
  if (event.key !== "Escape") return;
  state.pinned = NONE;
  look(NONE);
});
listenToMap();
buildKinds();
buildLayers();
let width = byId("map-frame").clientWidth;
new ResizeObserver(() => {
  if (byId("map-frame").clientWidth === width) return;  // painting changes the height
  width = byId("map-frame").clientWidth;
  paint();
}).observe(byId("map-frame"));
})();
