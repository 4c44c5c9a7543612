// The products of query and key elements that make up an attention score.

// Returns the query or key elements of a token for a head.
function elementsOf(map, side, head, token) {
  const {size, largest: most} = map.elements, packed = map.elements[side];
  const tokens = side === "query" ? queriesOf(map).length : keysOf(map).length;
  const begin = 2 * size * (head * tokens + token);
  return unpackNumbers(packed.substr(begin, 2 * size), -most, most);
}

const neuronHead = () => Math.max(0, state.head);  // the mean of heads has no elements
const neuronQuery = map => clamp(state.focus.query ?? state.pinned.query ?? shownOf(querySide(map))[0], 0, queriesOf(map).length - 1);

// Draws a strip of elements. Positive elements use the color scale of weights, and negative elements a second scale.
function paintStrip(canvas, values, most) {
  const context = sized(canvas, Math.min(4 * values.length, 320), 16, 1);
  const step = canvas.width / values.length;
  values.forEach((value, i) => {
    context.fillStyle = `rgb(${rampColor(value, most)})`;
    context.fillRect(i * step, 0, Math.ceil(step), 16);
  });
}

const strip = label => {
  const canvas = element("canvas", {className: "strip"});
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  return canvas;
};

// Shows a row for each key that is not hidden. For long inputs only the keys with the largest weights are shown.
const MOST_ROWS = 64;
function paintNeurons(map) {
  const head = neuronHead(), query = neuronQuery(map), {size} = map.elements;
  const q = elementsOf(map, "query", head, query);
  let keys = shownOf(keySide(map)).filter(key => !masked(map, query, key));
  if (keys.length > MOST_ROWS)
    keys = keys.sort((a, b) => weight(map, head, query, b) - weight(map, head, query, a)).slice(0, MOST_ROWS).sort((a, b) => a - b);
  const rows = keys.map(key => {
    const k = elementsOf(map, "key", head, key), product = q.map((value, i) => value * k[i]);
    return {key, k, product, score: product.reduce((sum, value) => sum + value, 0), weight: weight(map, head, query, key)};
  });
  const largestOf = lists => Math.max(1e-6, ...lists.map(list => Math.max(...list.map(Math.abs))));
  const mostElement = largestOf([q, ...rows.map(row => row.k)]), mostProduct = largestOf(rows.map(row => row.product));
  const mostWeight = Math.max(1, ...rows.map(row => row.weight));

  const queryStrip = byId("neuron-query");
  paintStrip(queryStrip, q, mostElement);
  byId("neuron-name").textContent = queriesOf(map)[query];
  byId("neuron-note").textContent = `Head ${head + 1}, ${size} elements.` +
      (keys.length < shownOf(keySide(map)).filter(key => !masked(map, query, key)).length
        ? ` The ${keys.length} keys with the largest weights are shown.` : "");
  byId("neurons").tBodies[0].replaceChildren(...rows.map(row => {
    const token = keysOf(map)[row.key], key = strip(`key of ${token}`), product = strip(`query times key of ${token}`);
    paintStrip(key, row.k, mostElement);
    paintStrip(product, row.product, mostProduct);
    const weightCell = element("td", {className: "number"}, digits(row.weight));
    weightCell.style.background = `rgb(${rampColor(row.weight, mostWeight)})`;
    weightCell.style.color = row.weight > 0.45 * mostWeight ? (theme() === "dark" ? "#10141b" : "#fff") : "";
    const button = element("button", {type: "button", className: "token"}, element("bdi", {title: token}, token));
    button.addEventListener("click", () => querySide(map) === keySide(map) && pin({query: row.key}));
    return element("tr", {}, element("th", {scope: "row"}, button), element("td", {}, key), element("td", {}, product),
                   element("td", {className: "number"}, row.score.toFixed(2)), weightCell);
  }));
}

function walkNeurons(event) {
  const step = {ArrowUp: -1, ArrowDown: 1}[event.key];
  if (!step) return;
  event.preventDefault();
  const map = currentMap(), shown = shownOf(querySide(map)), at = shown.indexOf(neuronQuery(map));
  pin({query: shown[clamp(at + step, 0, shown.length - 1)]});
}
