// Matrices over pairs of residues: expected errors, expected distances, and attention.

const MATRICES = ["errors", "distances", "attention"];

const valuesOf = matrix => kept(matrix, "values", () => unpackNumbers(matrix.values, 0, matrix.most));

const currentMap = () => data.attention.find(map => map.title === state.kind && map.layer === state.layer);

// Returns the weights of a head, or the mean of all heads, in thousandths: [residue, residue].
function weightsOf(map, head) {
  return kept(map, `weights ${head}`, () => {
    if (head !== ALL) return unpackWeights(map.weights[head], RESIDUES * RESIDUES);
    const mean = new Float32Array(RESIDUES * RESIDUES);
    for (let each = 0; each < map.heads; ++each) weightsOf(map, each).forEach((value, i) => mean[i] += value / map.heads);
    return mean;
  });
}

// Returns the residue whose attention is shown.
const looking = () => state.focus.query ?? state.pinned.query;
// Returns the residues that a residue attends to, as [residue, thousandths], the largest weight first.
function looks(map, from) {
  const row = weightsOf(map, state.head).subarray(from * RESIDUES, (from + 1) * RESIDUES);
  return [...row.entries()].filter(([, weight]) => weight >= 1).sort((a, b) => b[1] - a[1]);
}
const largestOf = map => kept(map, `largest ${state.head}`, () => weightsOf(map, state.head).reduce((a, b) => Math.max(a, b), 1));

// Returns the values of a matrix, and a function that maps a value to its share of the color ramp. Small distances
// have strong colors.
function shownBy(name) {
  if (name === "attention") {
    const map = currentMap();
    return map && {values: weightsOf(map, state.head), share: value => value / largestOf(map), key: `${map.title} ${map.layer} ${state.head}`};
  }
  const matrix = data[name];
  return matrix && {values: valuesOf(matrix), share: value => 1 - value / matrix.most, key: name};
}

function imageOf({values, share, key}) {
  return kept(data, `image ${key} ${theme()}`, () => {
    const canvas = element("canvas", {width: RESIDUES, height: RESIDUES}), context = canvas.getContext("2d");
    const pixels = context.createImageData(RESIDUES, RESIDUES), ramp = ramps[theme()];
    values.forEach((value, i) => {
      const [red, green, blue] = ramp[clamp(Math.round(255 * share(value)), 0, 255)];
      pixels.data[4 * i] = red;
      pixels.data[4 * i + 1] = green;
      pixels.data[4 * i + 2] = blue;
      pixels.data[4 * i + 3] = 255;
    });
    context.putImageData(pixels, 0, 0);
    return canvas;
  });
}

// Draws residue numbers to the left of a matrix and above it, with a step that leaves enough space.
const AXIS = 34;  // pixels
function paintAxes(context, cell) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find(each => each * cell >= 34);
  context.fillStyle = context.strokeStyle = style("--muted");
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (let residue = step - 1; residue < RESIDUES; residue += step) {
    const at = AXIS + (residue + 0.5) * cell, label = `${data.numbers[residue]}`;
    context.textAlign = "right";
    context.fillText(label, AXIS - 6, at);
    context.textAlign = "center";
    context.fillText(label, at, AXIS - 12);
    context.strokeRect(AXIS - 4, at, 4, 0);
    context.strokeRect(at, AXIS - 4, 0, 4);
  }
}

function paintMatrix(name) {
  const shown = shownBy(name), section = byId(`${name}-section`);
  section.hidden = !shown;
  if (!shown) return;
  const canvas = byId(name), room = section.clientWidth - 34, side = Math.min(room, 360) - AXIS;
  const context = sized(canvas, side + AXIS, side + AXIS), cell = side / RESIDUES;
  paintAxes(context, cell);
  context.translate(AXIS, AXIS);
  context.imageSmoothingEnabled = false;
  context.drawImage(imageOf(shown), 0, 0, side, side);
  const {query, key} = {...state.pinned, ...state.focus};
  context.strokeStyle = style("--less");
  context.lineWidth = 1;
  const line = (x, y, width, height) => context.strokeRect(x, y, width, height);
  if (query !== undefined) line(0, query * cell, side, Math.max(1, cell));
  if (key !== undefined) line(key * cell, 0, Math.max(1, cell), side);
}

function paintMatrices() {
  for (const name of MATRICES) paintMatrix(name);
}

// Converts a position in a matrix to a focus.
function pairAt(canvas, event) {
  const bounds = canvas.getBoundingClientRect();
  const index = (at, side) => clamp(Math.floor((at - AXIS) / (side - AXIS) * RESIDUES), 0, RESIDUES - 1);
  return {query: index(event.clientY - bounds.top, bounds.height), key: index(event.clientX - bounds.left, bounds.width)};
}

function listenToMatrices() {
  for (const name of MATRICES) {
    const canvas = byId(name);
    canvas.addEventListener("pointermove", event => look(pairAt(canvas, event)));
    canvas.addEventListener("pointerleave", () => look(state.pinned));
    canvas.addEventListener("click", event => pin(pairAt(canvas, event)));
    canvas.addEventListener("keydown", event => {
      const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
      const {query, key} = {query: 0, key: 0, ...state.focus};
      if (event.key === "Enter") pin({query, key});
      else if (step) look({query: clamp(query + step[0], 0, RESIDUES - 1), key: clamp(key + step[1], 0, RESIDUES - 1)});
      else return;
      event.preventDefault();
    });
  }
}
