// Interaction: choosing an attention, a layer and a head, pointing at tokens and cells.

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
  const role = name => data.source.length > 0 && data.target.length > 0 ? ` (${name})` : "";  // one text has no role
  byId("query-side").textContent = `query${role(map.queries)} looks …`;
  byId("key-side").textContent = `… at key${role(map.keys)}`;
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
  for (const kind of ["pointerleave", "blur"]) canvas.addEventListener(kind, () => look(state.pinned));
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

function savePicture() {
  const map = currentMap(), head = state.head === ALL ? "mean" : `head${state.head + 1}`;
  const title = document.title.replace(/[^\p{L}\p{N}.-]+/gu, "_");
  picture().toBlob(blob => {
    const link = element("a", {href: URL.createObjectURL(blob), download: `${title}-${map.kind}${map.layer}-${head}.png`});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
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
byId("save").addEventListener("click", savePicture);
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
