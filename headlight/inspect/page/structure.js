// Interaction: selects the displayed matrices and moments, and the residues in focus.

const nameOf = residue => `${data.names[residue]} ${data.numbers[residue]}`;

function choices(id, name, options, chosen, choose) {
  const legend = byId(id).firstElementChild;
  byId(id).hidden = options.length < 2;
  byId(id).replaceChildren(legend, ...options.map(([value, label]) => {
    const input = element("input", {type: "radio", name, value, checked: value === chosen});
    input.addEventListener("change", () => choose(value));
    return element("label", {}, input, label);
  }));
}

function select(id, options, chosen, choose) {
  byId(id).replaceChildren(...options.map(([value, label]) => element("option", {value, textContent: label, selected: value === chosen})));
  byId(id).onchange = event => choose(Number(event.target.value));
}

const layersOf = kind => data.attention.filter(map => map.title === kind).map(map => map.layer);

function buildAttention() {
  const kinds = [...new Set(data.attention.map(map => map.title))];
  byId("attention-choices").hidden = kinds.length === 0;
  if (kinds.length === 0) return;
  choices("kinds", "kind", kinds.map(kind => [kind, kind]), state.kind, kind => {
    state.kind = kind;
    buildAttention();
    paint();
  });
  const layers = layersOf(state.kind);
  if (!layers.includes(state.layer)) state.layer = layers.at(-1);
  select("layer", layers.map(layer => [layer, `${layer}`]), state.layer, layer => { state.layer = layer; paint(); });
  const {heads} = currentMap();
  if (state.head >= heads) state.head = ALL;
  select("head", [[ALL, "mean of all"], ...Array.from({length: heads}, (_, head) => [head, `${head + 1}`])], state.head,
         head => { state.head = head; paint(); });
}

function buildSequence() {
  byId("sequence").replaceChildren(...[...data.letters].map((letter, residue) => {
    const button = element("button", {className: "residue", type: "button", textContent: letter, title: nameOf(residue), tabIndex: residue === 0 ? 0 : -1});
    const item = element("li", {}, button);
    if (residue % 10 === 9) item.prepend(element("span", {className: "number", textContent: data.numbers[residue]}));
    button.addEventListener("pointerenter", () => look({query: residue}));
    button.addEventListener("pointerleave", () => look(state.pinned));
    button.addEventListener("focus", () => look({query: residue}));
    button.addEventListener("click", () => pin({query: residue}));
    return item;
  }));
  byId("sequence").addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const buttons = document.querySelectorAll(".residue"), here = [...buttons].indexOf(document.activeElement);
    if (!step || here < 0) return;
    const next = clamp(here + step, 0, RESIDUES - 1);
    buttons[here].tabIndex = -1;
    buttons[next].tabIndex = 0;
    buttons[next].focus();
    event.preventDefault();
  });
}

// ---- Painting ----

function paintSequence() {
  const map = currentMap(), from = looking(), seen = new Set(map && from !== undefined ? looks(map, from).slice(0, 8).map(([to]) => to) : []);
  document.querySelectorAll(".residue").forEach((button, residue) => {
    button.style.setProperty("--color", `rgb(${colourOf(residue)})`);
    button.classList.toggle("here", residue === state.focus.query || residue === state.focus.key);
    button.classList.toggle("seen", seen.has(residue));
  });
}

function paintLegend() {
  const entry = (colour, text) => element("span", {}, Object.assign(element("i"), {style: `--color: rgb(${colour})`}), text);
  const entries = {
    confidence: () => ["pLDDT:", ...BANDS.map(([, text, colour]) => entry(colour, text))],
    residue: () => CLASSES.filter(([letters]) => [...data.letters].some(letter => letters.includes(letter))).map(([, text, colour]) => entry(colour, text)),
    chain: () => [entry(named.chain(0), "first residue"), entry(named.chain(RESIDUES - 1), "last residue")],
  }[state.colour]();
  byId("legend").replaceChildren(...entries);
}

function readoutText() {
  const {query: i, key: j} = state.focus, angstrom = value => `${value.toFixed(1)} Å`;
  if (i === undefined) return `${RESIDUES} residues` + (data.lddt ? `, mean pLDDT ${(data.lddt.reduce((a, b) => a + b) / RESIDUES).toFixed(1)}` : "");
  let text = nameOf(i) + (data.lddt ? `, pLDDT ${data.lddt[i].toFixed(1)}` : "");
  const map = currentMap(), head = map && (state.head === ALL ? `mean of ${map.heads} heads` : `head ${state.head + 1}`);
  if (j === undefined || j === i) {
    if (map) text += ` · ${map.title.toLowerCase()}, block ${map.layer}, ${head}: ` + looks(map, i).slice(0, 5).map(([to, weight]) => `${nameOf(to)} ${(weight / 1000).toFixed(3)}`).join(", ");
    return text;
  }
  const pair = i * RESIDUES + j;
  text += ` and ${nameOf(j)}: ${angstrom(distance(i, j))} apart`;
  if (data.distances) text += `, expected ${angstrom(valuesOf(data.distances)[pair])}`;
  if (data.errors) text += `, error ${angstrom(valuesOf(data.errors)[pair])}`;
  if (map) text += `, ${map.title.toLowerCase()} ${(weightsOf(map, state.head)[pair] / 1000).toFixed(3)}`;
  return text;
}

function paint() {
  paintSpace();
  paintMatrices();
  paintSequence();
  if (currentMap()) byId("attention-most").textContent = (largestOf(currentMap()) / 1000).toFixed(3);
  byId("readout").textContent = readoutText();
}

// ---- Moments ----

function showMoment(moment) {
  state.moment = moment;
  const nearest = Math.round(moment);
  byId("moment").value = nearest;
  byId("moment-name").textContent = data.moments[nearest].name;
  byId("moment").setAttribute("aria-valuetext", data.moments[nearest].name);
}

let playing = 0;  // a timer; 0: none
function stopPlaying() {
  cancelAnimationFrame(playing);
  playing = 0;
  byId("play").textContent = "Play";
}

// Plays the moments from first to last, three per second.
function play() {
  if (playing) return stopPlaying();
  const last = data.moments.length - 1, began = performance.now();
  byId("play").textContent = "Stop";
  const frame = now => {
    const moment = Math.min(last, (now - began) / 333);
    showMoment(moment);
    paintSpace();
    if (moment === last) return stopPlaying();
    playing = requestAnimationFrame(frame);
  };
  playing = requestAnimationFrame(frame);
}

// ---- Events ----

function listenToSpace() {
  const canvas = byId("space"), fingers = new Map();
  let moved = 0;
  const within = event => { const bounds = canvas.getBoundingClientRect(); return [event.clientX - bounds.left, event.clientY - bounds.top]; };
  const spread = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
  canvas.addEventListener("pointerdown", event => {
    fingers.set(event.pointerId, within(event));
    moved = 0;
    try { canvas.setPointerCapture(event.pointerId); } catch { /* the pointer is no longer active */ }
  });
  canvas.addEventListener("pointermove", event => {
    const place = within(event), before = fingers.get(event.pointerId);
    if (!before) {
      const residue = pick(...place);
      return look(residue === undefined ? state.pinned : {query: residue});
    }
    const wide = fingers.size === 2 ? spread() : 0;
    fingers.set(event.pointerId, place);
    moved += Math.hypot(place[0] - before[0], place[1] - before[1]);
    if (wide > 0) state.zoom = clamp(state.zoom * spread() / wide, 0.3, 12);
    else turnBy((place[1] - before[1]) / 120, (place[0] - before[0]) / 120);
    paintSpace();
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, event => {
    fingers.delete(event.pointerId);
    const residue = kind === "pointerup" && moved < 4 ? pick(...within(event)) : undefined;
    if (residue !== undefined) pin({query: residue});
  });
  canvas.addEventListener("wheel", event => {
    state.zoom = clamp(state.zoom * Math.exp(-event.deltaY / 500), 0.3, 12);
    paintSpace();
    event.preventDefault();
  }, {passive: false});
  canvas.addEventListener("keydown", event => {
    const turn = {ArrowUp: [-0.15, 0], ArrowDown: [0.15, 0], ArrowLeft: [0, -0.15], ArrowRight: [0, 0.15]}[event.key];
    if (turn) turnBy(...turn);
    else if (event.key === "+" || event.key === "=") state.zoom = Math.min(12, state.zoom * 1.2);
    else if (event.key === "-") state.zoom = Math.max(0.3, state.zoom / 1.2);
    else return;
    paintSpace();
    event.preventDefault();
  });
}

function saveImage() {
  element("a", {href: byId("space").toDataURL(), download: `${document.title}.png`}).click();
}

choices("forms", "form", [["ribbon", "Ribbon"], ["atoms", "Atoms"]], state.form, form => {
  stopPlaying();
  state.form = form;
  if (form === "atoms") showMoment(data.moments.length - 1);  // only the final structure has atoms
  paint();
});
choices("colours", "colour", [...(data.lddt ? [["confidence", "pLDDT"]] : []), ["residue", "Residue"], ["chain", "Chain"]], state.colour, colour => {
  state.colour = colour;
  paintLegend();
  paint();
});
byId("moments").hidden = data.moments.length < 2;
byId("moment").max = data.moments.length - 1;
byId("moment").addEventListener("input", event => {
  stopPlaying();
  showMoment(Number(event.target.value));
  paint();
});
byId("play").addEventListener("click", play);
byId("save").addEventListener("click", saveImage);
document.addEventListener("keydown", event => {
  if (event.key !== "Escape") return;
  state.pinned = NONE;
  look(NONE);
});
for (const name of ["errors", "distances"]) if (data[name]) byId(`${name}-most`).textContent = `${data[name].most.toFixed(0)} Å`;
listenToTheme(() => paint());
buildAttention();
buildSequence();
listenToMatrices();
listenToSpace();
showMoment(data.moments.length - 1);
paintLegend();
paint();
let width = document.body.clientWidth;
new ResizeObserver(() => {
  if (document.body.clientWidth === width) return;  // drawing changes only the height
  width = document.body.clientWidth;
  paint();
}).observe(document.body);
