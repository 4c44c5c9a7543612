"use strict";
// The page on which one looks at attention. Its data, written by attention_page.cc:
//   source, target  the tokens, as labels
//   maps            {kind, title, queries, keys, causal, layer, heads, weights}; queries and keys say which sentence;
//                   weights is [head, query, key] in thousandths, each two digits of base 36
//   ramps           for the themes light and dark, 256 colours of weights from 0 to 1, as six hexadecimal digits each
// There is one state; a choice changes it and builds the parts anew, a token or a cell in focus only paints them.
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

// The weight, in thousandths, that has the last colour: the largest of this head, or of all heads. The first query of a
// causal map does not count, for it can look at itself alone.
function largest(map, head) {
  map.largest ??= {};
  if (map.largest[head] !== undefined) return map.largest[head];
  const queries = queriesOf(map).length, keys = keysOf(map).length;
  let most = 1;
  for (let query = map.causal && queries > 1 ? 1 : 0; query < queries; ++query)
    for (let key = 0; key < keys; ++key) most = Math.max(most, weight(map, head, query, key));
  return map.largest[head] = most;
}

// The scale of all heads side by side.
const largestOfAll = map => Math.max(...Array.from({length: map.heads}, (_, head) => largest(map, head)));

// ---- Colours ----

const ramps = Object.fromEntries(Object.entries(data.ramps).map(([name, hex]) =>
  [name, Array.from({length: 256}, (_, i) => [0, 2, 4].map(at => parseInt(hex.substr(6 * i + at, 2), 16)))]));
const rampColor = (thousandths, most) => ramps[theme()][clamp(Math.round(255 * thousandths / most), 0, 255)];

// Heads are told apart by hue, evenly around the circle.
function headColor(head, heads) {
  return head === ALL ? style("--accent") : `oklch(${style("--line")} ${Math.round(25 + 360 * head / heads)})`;
}

// A map as an image of one pixel per weight, `most` thousandths having the last colour; what is masked is transparent.
function image(map, head, most) {
  map.images ??= {};
  const name = `${theme()} ${head} ${most}`;
  if (map.images[name]) return map.images[name];
  const width = keysOf(map).length, height = queriesOf(map).length;
  const canvas = element("canvas", {width, height});
  const context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
  for (let query = 0, at = 0; query < height; ++query) {
    for (let key = 0; key < width; ++key, at += 4) {
      if (!masked(map, query, key)) pixels.data.set([...rampColor(weight(map, head, query, key), most), 255], at);
    }
  }
  context.putImageData(pixels, 0, 0);
  return map.images[name] = canvas;
}
