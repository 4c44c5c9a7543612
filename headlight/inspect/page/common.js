"use strict";
// Shared by all pages: decoding of the data that page_data.cc encodes, colors, and page elements.
const data = JSON.parse(document.getElementById("data").textContent);

const byId = id => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const theme = () => document.documentElement.dataset.theme;
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Computes a value once for each key and caches it with the object.
function kept(object, key, compute) {
  object.kept ??= new Map();
  if (!object.kept.has(key)) object.kept.set(key, compute());
  return object.kept.get(key);
}

// ---- Packed numbers ----

const DIGIT = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].forEach((digit, value) => {
  DIGIT[digit.charCodeAt(0)] = value;
});
const twoDigits = (packed, at) => DIGIT[packed.charCodeAt(at)] << 6 | DIGIT[packed.charCodeAt(at + 1)];

// Decodes weights in thousandths. Two digits up to UNIT are UNIT * sqrt(weight); larger values encode runs of 2, 3, ...
// zeros.
const UNIT = 3999;
const THOUSANDTHS = Float32Array.from({length: UNIT + 1}, (_, code) => 1000 * (code / UNIT) ** 2);
function unpackWeights(packed, count) {
  const weights = new Float32Array(count);
  for (let at = 0, to = 0; at < packed.length; at += 2) {
    const code = twoDigits(packed, at);
    if (code > UNIT) to += code - UNIT + 1;
    else weights[to++] = THOUSANDTHS[code];
  }
  return weights;
}

// Decodes numbers from least to most, two digits each.
function unpackNumbers(packed, least, most) {
  return Float32Array.from({length: packed.length / 2}, (_, i) => least + twoDigits(packed, 2 * i) / 4094 * (most - least));
}

// ---- Colors and canvases ----

const ramps = Object.fromEntries(Object.entries(data.ramps).map(([name, hex]) =>
  [name, Array.from({length: 256}, (_, i) => [0, 2, 4].map(at => parseInt(hex.substr(6 * i + at, 2), 16)))]));

// Sets the size of a canvas on the page, by default at the screen's resolution. Returns its cleared context.
function sized(canvas, width, height, scale = window.devicePixelRatio || 1) {
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return context;
}

// ---- Light and dark ----

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", dark);
}

// The theme follows the system, and the button switches it. `changed` is called after each change.
function listenToTheme(changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const set = dark => { setTheme(dark); changed(); };
  setTheme(system.matches);
  system.addEventListener("change", () => set(system.matches));
  byId("theme").addEventListener("click", () => set(theme() === "light"));
}

// ---- The focus: a query, a key, or both, as tokens or residues ----

const ALL = -1;   // as a head: the mean of all heads
const NONE = {};  // the empty focus: no query and no key
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
