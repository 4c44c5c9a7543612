// The state and the weights of the attention page. attention_page.cc writes `data`:
//   records  the compared inputs or models, or the snapshots of a training run: {name, source, target, boxes, maps}
//     source, target  {tokens, special, image}: labels; the indices of the tokens that the user may hide; and if tokens
//                     are the cells of an image, {first, rows, columns, height, width, pixels}, pixels being bytes
//                     of red, green and blue, three per four base 64 digits; if tokens are regions, `boxes` has
//                     the [left, top, width, height] of each as shares of the image, and rows and columns are a raster
//     boxes           for a detector, the [left, top, width, height] of each target token as shares of the source's image
//     maps            {kind, title, relevance, queries, keys, causal, layer, heads, weights, elements}. relevance: true
//                     for the relevance of a score over the layers from this one on. queries, keys: the sides. weights
//                     has a string for unpackWeights for each head, [query, key]. elements is optional:
//                     {size, largest, query, key}, [head, token, size], two digits each
//   query    the token whose attention over an image is initially shown
//   mass     if it is a number, images initially show the cells that have this share of a head's weight
//   slider   true if the records are snapshots of a training run
//   ramps    for the themes light and dark, and for weights over an image, 256 colors of weights from 0 to 1, as six
//            hexadecimal digits each
// There is one state. A selection changes the state and rebuilds the parts; a change of focus only redraws them.
const LONG = 120;  // above this number of tokens of a side, only the visible tokens are drawn
const state = {
  view: "heads", record: 0, difference: false, kind: data.records[0].maps[0].kind,
  layer: data.records[0].maps[0].layer, head: ALL, focus: NONE, pinned: NONE,
  hide: false, masks: data.mass !== null, mass: data.mass ?? 0.6, opacity: 0.6, original: false, zoom: 0,
};

const digits = thousandths => (thousandths / 1000).toFixed(3);

// ---- Tokens ----

const record = () => data.records[state.record];
const mapsOf = (of = record()) => of.maps;
const findMap = (of, kind, layer) => of.maps.find(map => map.kind === kind && map.layer === layer);
for (const each of data.records) for (const map of each.maps) map.record = each;

const querySide = map => map.record[map.queries], keySide = map => map.record[map.keys];
const queriesOf = map => querySide(map).tokens, keysOf = map => keySide(map).tokens;
const masked = (map, query, key) => map.causal && key > query;
const hasSpecial = map => querySide(map).special.length + keySide(map).special.length > 0;

// Returns the indices of the tokens that are not hidden, in order.
function shownOf(side) {
  return kept(side, `shown ${state.hide}`, () => {
    const hidden = new Set(state.hide ? side.special : []);
    const shown = side.tokens.map((_, index) => index).filter(index => !hidden.has(index));
    return shown.length > 0 ? shown : side.tokens.map((_, index) => index);
  });
}

// ---- The weights ----

// Returns the weights of a head, or the mean of all heads, in thousandths: [query, key]. They are decoded at the first
// call.
function valuesOf(map, head) {
  return kept(map, `values ${head}`, () => {
    const count = queriesOf(map).length * keysOf(map).length;
    if (map.minus) {
      const values = valuesOf(map.plus, head).slice(), minus = valuesOf(map.minus, head);
      return values.map((value, index) => value - minus[index]);
    }
    if (head !== ALL) return unpackWeights(map.weights[head], count);
    const sum = new Float32Array(count);
    for (let each = 0; each < map.heads; ++each) {
      const values = valuesOf(map, each);
      for (let i = 0; i < count; ++i) sum[i] += values[i];
    }
    return sum.map(value => value / map.heads);
  });
}
const weight = (map, head, query, key) => valuesOf(map, head)[query * keysOf(map).length + key];

// Returns the difference between a map and the same map of the first record, if their tokens are equal.
function differenceOf(map) {
  const other = findMap(data.records[0], map.kind, map.layer);
  const same = other && other.heads === map.heads && other !== map &&
      String(queriesOf(other)) === String(queriesOf(map)) && String(keysOf(other)) === String(keysOf(map));
  return same ? kept(map, "difference", () => ({...map, kept: undefined, plus: map, minus: other})) : undefined;
}

function shownMap(map) {
  return state.difference && differenceOf(map) || map;
}
const currentMap = () => shownMap(findMap(record(), state.kind, state.layer));

// Calls visit(value, query, key) for the tokens that are not hidden and not masked.
function forEachShown(map, head, visit) {
  const values = valuesOf(map, head), keys = shownOf(keySide(map)), width = keysOf(map).length;
  for (const query of shownOf(querySide(map)))
    for (const key of keys) if (!masked(map, query, key)) visit(values[query * width + key], query, key);
}

// Returns the keys that a query attends to, or the queries that attend to a key, as [index, thousandths].
function across(map, head, {query, key}) {
  const values = valuesOf(map, head), width = keysOf(map).length;
  return query !== undefined ? shownOf(keySide(map)).map(other => [other, values[query * width + other]])
      : shownOf(querySide(map)).map(other => [other, values[other * width + key]]);
}
const looks = (map, head, focus) => across(map, head, focus).sort((a, b) => b[1] - a[1]);
const strongest = (map, head, focus) => across(map, head, focus).reduce((a, b) => b[1] > a[1] ? b : a);

// Returns the weight, in thousandths, at the end of the color scale: the largest weight of this head, or of all heads.
// The first query of a causal map is ignored, since it can only attend to itself.
function largest(map, head) {
  return kept(map, `largest ${head} ${state.hide}`, () => {
    let most = 1;
    const first = map.causal && queriesOf(map).length > 1 ? 0 : -1;
    forEachShown(map, head, (value, query) => {
      if (query !== first && Math.abs(value) > most) most = Math.abs(value);
    });
    return most;
  });
}

// Returns the largest weight of all heads, for a common color scale.
const largestOfAll = map => Math.max(...Array.from({length: map.heads}, (_, head) => largest(map, head)));

// ---- Colors ----

const reversed = Object.fromEntries(Object.entries(ramps).map(([name, ramp]) =>
  [name, ramp.map(([red, green, blue]) => [blue, green, red])]));  // negative values of a difference
const rampColor = (thousandths, most) => (thousandths < 0 ? reversed : ramps)[theme()][
  clamp(Math.round(255 * Math.abs(thousandths) / most), 0, 255)];

// Heads have different hues, evenly spaced on the color circle.
function headColor(head, heads) {
  return head === ALL ? style("--accent") : `oklch(${style("--line")} ${Math.round(25 + 360 * head / heads)})`;
}

// Draws the weights of some queries and keys as an image with one pixel per weight. The color scale ends at `most`
// thousandths. Masked weights are transparent.
function heatmap(map, head, most, queries, keys) {
  const canvas = element("canvas", {width: keys.length, height: queries.length});
  const context = canvas.getContext("2d"), pixels = context.createImageData(keys.length, queries.length);
  const values = valuesOf(map, head), width = keysOf(map).length;
  let at = 0;
  for (const query of queries) {
    for (const key of keys) {
      if (!masked(map, query, key)) {
        const [red, green, blue] = rampColor(values[query * width + key], most);
        pixels.data[at] = red;
        pixels.data[at + 1] = green;
        pixels.data[at + 2] = blue;
        pixels.data[at + 3] = 255;
      }
      at += 4;
    }
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

// Draws a whole map with at most SMALL x SMALL pixels. Each pixel shows the largest weight of its cells.
const SMALL = 144;
function thumbnail(map, head, most) {
  return kept(map, `thumbnail ${head} ${most} ${state.hide} ${theme()}`, () => {
    const queries = shownOf(querySide(map)), keys = shownOf(keySide(map));
    if (Math.max(queries.length, keys.length) <= SMALL) return heatmap(map, head, most, queries, keys);
    const height = Math.min(SMALL, queries.length), width = Math.min(SMALL, keys.length);
    const values = valuesOf(map, head), row = keysOf(map).length;
    const small = new Float32Array(width * height).fill(-Infinity);
    const column = keys.map((_, index) => Math.floor(index * width / keys.length));
    queries.forEach((query, index) => {
      const begin = Math.floor(index * height / queries.length) * width, end = map.causal ? query + 1 : row;
      for (let i = 0; i < keys.length && keys[i] < end; ++i) {
        const value = values[query * row + keys[i]], to = begin + column[i];
        if (small[to] === -Infinity || Math.abs(value) > Math.abs(small[to])) small[to] = value;
      }
    });
    const canvas = element("canvas", {width, height});
    const context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
    small.forEach((value, i) => {
      if (value !== -Infinity) pixels.data.set([...rampColor(value, most), 255], 4 * i);
    });
    context.putImageData(pixels, 0, 0);
    return canvas;
  });
}
