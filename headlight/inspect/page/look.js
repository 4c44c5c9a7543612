// Interaction: selects the displayed maps, and the token or cell in focus.

const VIEWS = {
  image: {title: "Image", available: map => Boolean(partsOf(map).image), build: buildImage, paint: paintImage},
  heads: {title: "Heads", available: () => true, build() {}, paint(map) { paintLists(map); paintMap(map); }},
  model: {title: "Model", available: () => true, build: buildModel, paint: paintModel},
  neurons: {title: "Neurons", available: map => Boolean(map.elements) && !map.minus, build() {}, paint: paintNeurons},
};

// ---- Selection ----

function radio(name, value, checked, label, choose) {
  const input = element("input", {type: "radio", name, value, checked});
  input.addEventListener("change", () => choose(value));
  return element("label", {}, input, label);
}

function choices(id, options) {
  byId(id).replaceChildren(byId(id).firstElementChild, ...options);
  byId(id).hidden = options.length < 2;
}

// Shows a menu of the models, or a slider for the snapshots of a training run.
function buildRecords() {
  const slider = byId("moment");
  slider.max = data.records.length - 1;
  byId("moments").hidden = !data.slider;
  byId("differences").hidden = data.records.length < 2;
  byId("difference-name").textContent = `less ${data.records[0].name}`;
  const choose = index => {
    state.record = index;
    byId("moment-name").textContent = record().name;
    slider.setAttribute("aria-valuetext", record().name);
    buildKinds();
  };
  slider.addEventListener("input", () => choose(Number(slider.value)));
  choices("records", data.slider ? [] : data.records.map((each, index) =>
    radio("record", index, index === state.record, each.name, choose)));
  byId("difference").addEventListener("change", event => {
    state.difference = event.target.checked;
    buildMap();
  });
  choose(state.record);
}

// Selections are kept if the new record has them.
function buildKinds() {
  const kinds = [...new Set(mapsOf().map(map => map.kind))];
  if (!kinds.includes(state.kind)) state.kind = kinds[0];
  choices("kinds", kinds.map(kind => {
    const title = mapsOf().find(map => map.kind === kind).title;
    return radio("kind", kind, kind === state.kind, title, chosen => {
      state.kind = chosen;
      state.focus = state.pinned = NONE;
      buildLayers();
    });
  }));
  byId("kinds").hidden = false;
  buildLayers();
}

function buildLayers() {
  const layers = layersOf(state.kind);
  if (!layers.includes(state.layer)) state.layer = layers[0];
  choices("layers", layers.map(layer => radio("layer", layer, layer === state.layer, `${layer}`, chosen => {
    state.layer = chosen;
    buildMap();
  })));
  byId("layers").hidden = false;
  buildMap();
}

// The radio button that was just selected is kept, so that it keeps the keyboard focus.
function buildViews(map) {
  const available = Object.keys(VIEWS).filter(name => VIEWS[name].available(map)), list = byId("views");
  if (list.dataset.shows !== String(available)) {
    list.dataset.shows = available;
    choices("views", available.map(name => radio("view", name, false, VIEWS[name].title, chosen => {
      state.view = chosen;
      buildMap();
    })));
  }
  list.querySelectorAll("input").forEach(input => input.checked = input.value === state.view);
}

function buildMap() {
  later.forget();
  const map = currentMap(), inside = side => index => index === undefined || index < side.tokens.length;
  if (state.head >= map.heads) state.head = ALL;
  if (map.heads === 1 || (state.head === ALL && isHuge(map))) state.head = 0;  // the mean needs the weights of all heads
  for (const name of ["focus", "pinned"])
    if (!inside(querySide(map))(state[name].query) || !inside(keySide(map))(state[name].key)) state[name] = NONE;
  if (!VIEWS[state.view].available(map)) state.view = "heads";
  buildViews(map);
  for (const name of Object.keys(VIEWS)) byId(`view-${name}`).hidden = name !== state.view;
  byId("page").className = state.view === "image" ? "over-image" : "";
  byId("heads").hidden = state.view === "model" || map.heads === 1;
  byId("layers").disabled = state.view === "model";
  byId("hiding").hidden = !hasSpecial(map);
  byId("queries").stop = byId("keys").stop = 0;
  delete byId("queries").dataset.shows;
  delete byId("keys").dataset.shows;
  buildHeads(map);
  const role = name => record().source.tokens.length > 0 && record().target.tokens.length > 0 ? ` (${name})` : "";  // a single input needs no role
  byId("query-side").textContent = map.relevance ? "score of …" : `query${role(map.queries)} looks …`;
  byId("key-side").textContent = map.relevance ? "… is due to" : `… at key${role(map.keys)}`;
  byId("hidden-legend").hidden = !map.causal;
  byId("less-legend").hidden = !map.minus;
  VIEWS[state.view].build(map);
  paint();
}

function paint() {
  const map = currentMap();
  if (state.view !== "model") paintHeads(map);
  VIEWS[state.view].paint(map);
  byId("largest").textContent = digits(largest(map, state.head));
  paintReadout(map);
}

// ---- Readout ----

const headName = (map, head) => head === ALL ? `mean of ${map.heads} heads` : `head ${head + 1}`;
const placeName = map => `${map.title}, ${map.relevance ? "from " : ""}layer ${map.layer}${map.heads === 1 ? "" : `, ${headName(map, state.head)}`}` +
    (map.minus ? `, less ${data.records[0].name}` : "");
const named = token => `\u2068“${token}”\u2069`;  // isolates the writing direction of the token
const looksAt = (map, query) => map.relevance ? `the score of ${named(queriesOf(map)[query])} is due to` : `${named(queriesOf(map)[query])} looks at`;
const seenBy = (map, key) => `${named(keysOf(map)[key])} ${map.relevance ? "adds to the score of" : "is seen by"}`;

function paintReadout(map) {
  const {query, key} = state.focus, queries = queriesOf(map), keys = keysOf(map);
  let text = "";
  if (state.view === "model") {
    text = "";
  } else if (overlaidImage(map)) {
    text = imageReadout(map);
  } else if (query !== undefined && key !== undefined) {
    const value = masked(map, query, key) ? "hidden, a later token" : digits(weight(map, state.head, query, key));
    text = `: ${looksAt(map, query)} ${named(keys[key])}: ${value}`;
  } else if (state.focus !== NONE) {
    const others = query !== undefined ? keys : queries;
    const most = looks(map, state.head, state.focus).filter(([, value]) => value >= 1).slice(0, 5)
        .map(([other, value]) => `${named(others[other])} ${digits(value)}`).join(", ") || "nothing";
    text = `: ${query !== undefined ? looksAt(map, query) : seenBy(map, key)} ${most}`;
  }
  byId("readout").textContent = state.view === "model" ? `${map.title}: ${layersOf(state.kind).length} layers` : placeName(map) + text;
}

// ---- Events ----

listenToTheme(() => { paintRamp(); paint(); });
paintRamp();
byId("save").addEventListener("click", () => saveImage());
byId("hide").addEventListener("change", event => {
  state.hide = event.target.checked;
  state.focus = state.pinned = NONE;
  buildMap();
});
document.addEventListener("keydown", event => {
  if (event.key !== "Escape") return;
  state.pinned = NONE;
  look(NONE);
});
byId("grid").addEventListener("keydown", walkGrid);
byId("view-neurons").addEventListener("keydown", walkNeurons);
listenToLists();
listenToMap();
listenToImage();
if (VIEWS.image.available(currentMap())) {
  state.view = "image";
  // Selects the last layer. For relevance, selects the first layer, because its map covers all layers.
  state.layer = currentMap().relevance ? layersOf(state.kind)[0] : Math.max(...layersOf(state.kind));
}
buildRecords();
let width = document.body.clientWidth;
new ResizeObserver(() => {
  if (document.body.clientWidth === width) return;  // drawing changes only the height
  width = document.body.clientWidth;
  paint();
}).observe(document.body);
