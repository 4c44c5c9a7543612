// Small maps: a tile for each head of the layer, and a grid of all layers and heads. Over an image, both show the
// attention of the token in focus.

// Runs long work in pieces, so that the page remains responsive. `forget` drops queued work.
const later = {
  tasks: [], running: false,
  forget() { later.tasks = []; },
  add(task) {
    later.tasks.push(task);
    if (!later.running) setTimeout(later.run);
    later.running = true;
  },
  run() {
    const end = performance.now() + 15;
    while (later.tasks.length > 0 && performance.now() < end) later.tasks.shift()();
    later.running = later.tasks.length > 0;
    if (later.running) setTimeout(later.run);
  },
};

// Draws a small map immediately, or later if the input is long. The heads of a layer share one scale.
function drawSmall(canvas, map, head, query) {
  const name = `${map.title} ${state.hide} ${theme()} ${query === undefined ? "" : `${query} ${state.masks} ${state.mass} ${state.opacity}`}`;
  if (canvas.shows === map && canvas.dataset.shows === name) return;
  canvas.shows = map;
  canvas.dataset.shows = name;
  const draw = () => {
    if (canvas.shows !== map || canvas.dataset.shows !== name) return;
    if (query !== undefined) return paintOverlay(canvas, map, head, query, 160);
    const small = thumbnail(map, head, largestOfAll(map));
    [canvas.width, canvas.height] = [small.width, small.height];
    canvas.getContext("2d").drawImage(small, 0, 0);
  };
  if (!isHuge(map)) return draw();
  if (query === undefined) for (let each = 0; each < map.heads; ++each) later.add(() => largest(map, each));
  later.add(draw);
}

function shapeSmall(frame, map) {
  const cells = overlaidImage(map);
  frame.style.aspectRatio = cells ? `${cells.width} / ${cells.height}`
      : `${shownOf(keySide(map)).length} / ${shownOf(querySide(map)).length}`;
}

// ---- The heads of a layer ----

function buildHeads(map) {
  const tiles = [];
  for (let head = ALL; head < map.heads; ++head) {
    if (head === ALL && map.heads === 1) continue;
    const name = head === ALL ? `mean of ${map.heads}` : `head ${head + 1}`;
    const label = radio("head", head, head === state.head, "", chosen => {
      state.head = chosen;
      paint();
    });
    label.className = "tile";
    label.head = head;
    label.firstChild.setAttribute("aria-label", head === ALL ? "all heads" : name);
    label.append(element("span", {className: "name"}, element("i"), name),
                 element("span", {className: "image"}, element("canvas", {width: 1, height: 1})),
                 element("span", {className: "top"}));
    tiles.push(label);
  }
  byId("heads").replaceChildren(byId("heads").firstElementChild, ...tiles);
}

// Updates the tiles. Each tile shows the map on the common scale, a frame around the focus, and below it the largest
// weight of the head.
function paintHeads(map) {
  const queries = shownOf(querySide(map)), keys = shownOf(keySide(map)), over = overlaidImage(map);
  byId("heads").querySelectorAll("label").forEach(tile => {
    const frame = tile.querySelector(".image"), top = tile.querySelector(".top");
    tile.style.setProperty("--color", headColor(tile.head, map.heads));
    shapeSmall(frame, map);
    drawSmall(frame.firstChild, map, tile.head, over ? imageQuery(map) : undefined);
    frame.querySelector(".mark")?.remove();
    top.replaceChildren();
    const focus = over ? {[asks(map)]: imageQuery(map)} : state.focus;
    if (focus === NONE) return;
    const [other, value] = strongest(map, tile.head, focus);
    top.append(element("bdi", {}, focus.query !== undefined ? `→ ${keysOf(map)[other]}` : `← ${queriesOf(map)[other]}`),
               element("span", {}, digits(value)));
    if (over) return;
    const mark = element("span", {className: "mark"});
    const inset = (index, count) => index < 0 ? ["0%", "0%"]
        : [`${100 * index / count}%`, `${100 * (count - index - 1) / count}%`];
    [mark.style.top, mark.style.bottom] = inset(queries.indexOf(focus.query), queries.length);
    [mark.style.left, mark.style.right] = inset(keys.indexOf(focus.key), keys.length);
    frame.append(mark);
  });
}

// ---- All layers and heads ----

const layersOf = kind => mapsOf().filter(map => map.kind === kind).map(map => map.layer);

function buildModel() {
  const rows = layersOf(state.kind).map(layer => {
    const map = findMap(record(), state.kind, layer);
    const cells = Array.from({length: map.heads}, (_, head) => {
      const button = element("button", {type: "button", className: "small"}, element("canvas", {width: 1, height: 1}));
      button.setAttribute("aria-label", `layer ${layer}, head ${head + 1}`);
      button.title = button.getAttribute("aria-label");
      Object.assign(button, {layer, head});
      button.addEventListener("click", () => {
        Object.assign(state, {layer, head, view: overlaidImage(map) ? "image" : "heads"});
        buildLayers();
      });
      return element("td", {}, button);
    });
    return element("tr", {}, element("th", {scope: "row"}, `${layer}`), ...cells);
  });
  const most = Math.max(...mapsOf().filter(map => map.kind === state.kind).map(map => map.heads));
  const head = element("tr", {}, element("th", {scope: "col"}, "layer"), ...Array.from({length: most}, (_, index) =>
    element("th", {scope: "col"}, `${index + 1}`)));
  byId("grid").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}

function paintModel() {
  byId("grid").querySelectorAll("button").forEach(button => {
    const map = shownMap(findMap(record(), state.kind, button.layer));
    shapeSmall(button, map);
    button.classList.toggle("here", button.layer === state.layer && button.head === state.head);
    drawSmall(button.firstChild, map, button.head, overlaidImage(map) ? imageQuery(map) : undefined);
  });
}

// The arrow keys move through the grid.
function walkGrid(event) {
  const cell = event.target.closest("td");
  const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
  if (!cell || !move) return;
  event.preventDefault();
  const row = byId("grid").rows[cell.parentNode.rowIndex + move[0]];
  row?.cells[cell.cellIndex + move[1]]?.querySelector("button")?.focus();
}
