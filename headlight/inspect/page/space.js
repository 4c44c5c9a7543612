// The chain in 3D: a ribbon or atoms, drawn from back to front on a canvas.
// structure_page.cc writes `data`:
//   letters, names, numbers  for each residue: its one-letter code, three-letter code and number
//   lddt       for each residue, 0 to 100; null if the structure is not a prediction
//   breaks     the residues after which the chain is broken
//   steps      pieces of the ribbon between two residues
//   least, most  the range of packed coordinates, in angstrom
//   moments    {name, alphas, ribbon}: the CA of each residue; for each residue but the last, steps + 1 edges to the next,
//              each with its left and right end; the last moment is the final structure
//   counts, elements, atoms  of the final structure: the number of atoms of each residue, their elements and positions
//   errors, distances  {most, values} for each pair of residues, in angstrom; or null
//   attention  {title, layer, heads, weights}: for each head a string for unpackWeights, [residue, residue]
//   ramps      for the themes light and dark, 256 colors of weights from 0 to 1, as six hexadecimal digits each
const RESIDUES = data.letters.length;
const state = {
  form: "ribbon", colour: data.lddt ? "confidence" : "chain", moment: data.moments.length - 1,
  kind: data.attention[0]?.title, layer: data.attention[0]?.layer, head: ALL, focus: NONE, pinned: NONE,
  turn: [1, 0, 0, 0, 1, 0, 0, 0, 1], zoom: 1,
};
const breaks = new Set(data.breaks);

// ---- Positions ----

const unpackPlaces = packed => unpackNumbers(packed, data.least, data.most);
const atomPlaces = () => kept(data, "atoms", () => unpackPlaces(data.atoms));

// Returns the positions of a kind, such as "alphas", at the current moment. A fractional moment is interpolated.
function placesOf(kind) {
  const of = moment => kept(moment, `places ${kind}`, () => unpackPlaces(moment[kind]));
  const before = Math.floor(state.moment), share = state.moment - before;
  const from = of(data.moments[before]);
  if (share === 0) return from;
  const to = of(data.moments[before + 1]);
  return from.map((value, i) => value + share * (to[i] - value));
}

const place = (places, index) => places.subarray(3 * index, 3 * index + 3);
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const length = Math.hypot(...a) || 1; return a.map(value => value / length); };
const distance = (i, j) => { const alphas = placesOf("alphas"); return Math.hypot(...minus(place(alphas, i), place(alphas, j))); };

// The center of the structure, and the distance of the farthest CA from it.
const extent = (() => {
  const places = unpackPlaces(data.moments.at(-1).alphas), middle = [0, 0, 0];
  for (let i = 0; i < RESIDUES; ++i) place(places, i).forEach((value, axis) => middle[axis] += value / RESIDUES);
  let radius = 6;
  for (let i = 0; i < RESIDUES; ++i) radius = Math.max(radius, Math.hypot(...minus(place(places, i), middle)) + 4);
  return {middle, radius};
})();

// ---- Colors ----

const BANDS = [[90, "very high (over 90)", [0, 83, 214]], [70, "confident (70 to 90)", [101, 203, 243]],
               [50, "low (50 to 70)", [255, 219, 19]], [-1, "very low (below 50)", [255, 125, 69]]];
const CLASSES = [["AVILMFWPG", "hydrophobic", [146, 156, 170]], ["STNQYC", "polar", [84, 178, 120]],
                 ["KRH", "positive", [74, 118, 222]], ["DE", "negative", [220, 84, 88]], ["X", "unknown", [150, 120, 180]]];
const ELEMENTS = {N: [60, 96, 230], O: [224, 60, 60], S: [226, 190, 50]};
const named = {
  confidence: residue => BANDS.find(([least]) => data.lddt[residue] > least)[2],
  residue: residue => (CLASSES.find(([letters]) => letters.includes(data.letters[residue])) ?? CLASSES.at(-1))[2],
  // Colors from blue at the N terminus to red at the C terminus.
  chain: residue => hueColour(240 * (1 - residue / Math.max(1, RESIDUES - 1))),
};
const colourOf = residue => named[state.colour](residue);

function hueColour(hue) {
  const part = shift => {
    const k = (shift + hue / 30) % 12;
    return Math.round(255 * (0.55 - 0.38 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

// ---- Atoms ----

// Finds pairs of bonded atoms: atoms close to each other within a residue, or across a peptide bond.
const bonds = () => kept(data, "bonds", () => {
  const places = atomPlaces(), found = [];
  let begin = 0, before = [];
  data.counts.forEach((count, residue) => {
    const own = Array.from({length: count}, (_, i) => begin + i);
    const join = (a, b) => {
      if (Math.hypot(...minus(place(places, a), place(places, b))) < 1.95) found.push([a, b]);
    };
    own.forEach((a, i) => { for (const b of own.slice(i + 1)) join(a, b); });
    if (!breaks.has(residue - 1)) for (const a of before) join(a, own[0]);
    before = own;
    begin += count;
  });
  return found;
});
const residueOfAtom = () => kept(data, "residue of atom", () => data.counts.flatMap((count, residue) => Array(count).fill(residue)));

// ---- Drawing ----

const view = {scale: 1, x: 0, y: 0};  // pixels per angstrom, and the center of the canvas

function project(at) {
  const [x, y, z] = minus(at, extent.middle), t = state.turn;
  return [view.x + view.scale * (t[0] * x + t[1] * y + t[2] * z), view.y - view.scale * (t[3] * x + t[4] * y + t[5] * z),
          t[6] * x + t[7] * y + t[8] * z];
}

// Shades a color by depth, with light from the viewer. Distant parts fade to the background.
function shaded(colour, light, depth, paper) {
  const fog = clamp(0.28 - 0.28 * depth / extent.radius, 0, 0.55);
  return `rgb(${colour.map((value, k) => Math.round((1 - fog) * value * light + fog * paper[k]))})`;
}

function paintSpace() {
  const frame = byId("space-frame"), canvas = byId("space");
  const width = frame.clientWidth, height = frame.clientHeight, context = sized(canvas, width, height);
  const paper = theme() === "dark" ? [26, 30, 37] : [255, 255, 255];
  Object.assign(view, {scale: state.zoom * Math.min(width, height) / 2 / extent.radius, x: width / 2, y: height / 2});
  context.lineJoin = context.lineCap = "round";
  const parts = state.form === "atoms" && state.moment === data.moments.length - 1 ? atomParts(paper) : ribbonParts(paper);
  parts.sort((a, b) => a.depth - b.depth).forEach(part => part.draw(context));
  paintLooks(context);
  paintFocus(context);
  canvas.setAttribute("aria-label", `the chain of ${RESIDUES} residues, ${data.moments[Math.round(state.moment)].name}`);
}

function ribbonParts(paper) {
  const edges = placesOf("ribbon"), parts = [];
  for (let residue = 0; residue + 1 < RESIDUES; ++residue) {
    if (breaks.has(residue)) continue;
    for (let step = 0; step < data.steps; ++step) {
      const edge = 2 * (residue * (data.steps + 1) + step);
      const corners = [0, 1, 3, 2].map(corner => place(edges, edge + corner));
      parts.push(ribbonPart(step < data.steps / 2 ? residue : residue + 1, corners, paper));
    }
  }
  return parts;
}

function ribbonPart(residue, corners, paper) {
  const seen = corners.map(project), depth = (seen[0][2] + seen[1][2] + seen[2][2] + seen[3][2]) / 4;
  const normal = unit(cross(minus(corners[1], corners[0]), minus(corners[3], corners[0])));
  const facing = Math.abs(state.turn[6] * normal[0] + state.turn[7] * normal[1] + state.turn[8] * normal[2]);
  const colour = shaded(colourOf(residue), 0.62 + 0.38 * facing, depth, paper);
  return {depth, draw(context) {
    context.beginPath();
    seen.forEach(([x, y], i) => i === 0 ? context.moveTo(x, y) : context.lineTo(x, y));
    context.closePath();
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = Math.max(1, 0.3 * view.scale);
    context.fill();
    context.stroke();
  }};
}

function atomParts(paper) {
  const places = atomPlaces(), residues = residueOfAtom();
  const seen = residues.map((_, atom) => project(place(places, atom)));
  const colours = residues.map((residue, atom) => shaded(ELEMENTS[data.elements[atom]] ?? colourOf(residue), 1, seen[atom][2], paper));
  const balls = seen.map(([x, y, depth], atom) => ({depth, draw(context) {
    context.beginPath();
    context.arc(x, y, Math.max(1.2, 0.38 * view.scale), 0, 7);
    context.fillStyle = colours[atom];
    context.fill();
  }}));
  const sticks = bonds().map(([a, b]) => ({depth: (seen[a][2] + seen[b][2]) / 2 - 0.01, draw(context) {
    const half = [(seen[a][0] + seen[b][0]) / 2, (seen[a][1] + seen[b][1]) / 2];
    context.lineWidth = Math.max(1, 0.3 * view.scale);
    for (const atom of [a, b]) {
      context.beginPath();
      context.moveTo(seen[atom][0], seen[atom][1]);
      context.lineTo(...half);
      context.strokeStyle = colours[atom];
      context.stroke();
    }
  }}));
  return [...sticks, ...balls];
}

// Draws lines from the residue in focus to the residues that it attends to.
function paintLooks(context) {
  const map = currentMap(), from = looking();
  if (!map || from === undefined) return;
  const weights = looks(map, from).slice(0, 24), places = placesOf("alphas"), begin = project(place(places, from));
  for (const [to, weight] of weights.reverse()) {
    if (to === from) continue;
    const end = project(place(places, to)), share = Math.sqrt(weight / 1000);
    context.globalAlpha = clamp(0.15 + share, 0, 0.95);
    context.lineWidth = 1 + 7 * share;
    context.strokeStyle = style("--less");
    context.beginPath();
    context.moveTo(begin[0], begin[1]);
    context.lineTo(end[0], end[1]);
    context.stroke();
  }
  context.globalAlpha = 1;
}

function paintFocus(context) {
  const places = placesOf("alphas");
  context.font = `600 12.5px ${getComputedStyle(document.body).fontFamily}`;
  for (const residue of new Set([state.focus.query, state.focus.key].filter(each => each !== undefined))) {
    const [x, y] = project(place(places, residue));
    context.beginPath();
    context.arc(x, y, Math.max(5, 1.4 * view.scale), 0, 7);
    context.lineWidth = 2.5;
    context.strokeStyle = style("--accent");
    context.stroke();
    context.lineWidth = 4;
    context.strokeStyle = style("--card");
    context.strokeText(nameOf(residue), x + 10, y - 8);
    context.fillStyle = style("--ink");
    context.fillText(nameOf(residue), x + 10, y - 8);
  }
}

// Returns the residue whose CA is nearest to a point of the canvas, if the distance is below 18 pixels. Residues in
// front are preferred.
function pick(x, y) {
  const places = placesOf("alphas");
  let best, least = 18;
  for (let i = 0; i < RESIDUES; ++i) {
    const [px, py, depth] = project(place(places, i));
    const off = Math.hypot(px - x, py - y) - 0.15 * depth;
    if (Math.hypot(px - x, py - y) < 18 && off < least) [best, least] = [i, off];
  }
  return best;
}

// Rotates the chain by angles around the axes of the screen.
function turnBy(around_x, around_y, around_z = 0) {
  const times = (a, b) => [0, 3, 6].flatMap(row => [0, 1, 2].map(column => a[row] * b[column] + a[row + 1] * b[column + 3] + a[row + 2] * b[column + 6]));
  const [sx, cx, sy, cy, sz, cz] = [around_x, around_y, around_z].flatMap(angle => [Math.sin(angle), Math.cos(angle)]);
  const turn = times([cz, -sz, 0, sz, cz, 0, 0, 0, 1], times([1, 0, 0, 0, cx, -sx, 0, sx, cx], [cy, 0, sy, 0, 1, 0, -sy, 0, cy]));
  state.turn = times(turn, state.turn);
}
