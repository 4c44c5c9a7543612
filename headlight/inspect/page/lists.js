// Lists of the tokens of both sides, and lines between attended tokens.

const rowHeight = map => mostShown(map) <= 40 ? 27 : 21;

// Returns the rows of the lists to render: the visible rows and a few more. Short inputs are rendered completely.
function rowsInSight(map) {
  const row = rowHeight(map), frame = byId("sentences");
  if (!isLong(map)) return {first: 0, end: mostShown(map), top: 0, height: row * mostShown(map)};
  const height = Math.min(frame.clientHeight, row * mostShown(map)), top = frame.scrollTop;
  return {first: Math.max(0, Math.floor(top / row) - 5), end: Math.ceil((top + height) / row) + 5, top, height};
}

// Builds a list of buttons. Only one button is in the tab order. The arrow keys move between buttons.
function buildTokens(map, side, list, rows) {
  const tokens = side === "query" ? querySide(map) : keySide(map), shown = shownOf(tokens), row = rowHeight(map);
  const name = `${state.record} ${state.kind} ${state.layer} ${state.hide} ${rows.first} ${rows.end}`;
  if (list.dataset.shows === name) return;
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.position : undefined;
  const stop = clamp(list.stop ?? 0, rows.first, Math.min(rows.end, shown.length) - 1);
  list.dataset.shows = name;
  list.style.setProperty("--row", `${row}px`);
  list.style.height = `${row * shown.length}px`;
  list.style.paddingTop = `${row * rows.first}px`;
  list.replaceChildren(...shown.slice(rows.first, rows.end).map((index, i) => {
    const token = tokens.tokens[index], text = element("bdi", {title: token}), position = rows.first + i;
    for (const part of token.split(/(\u2581)/)) {
      if (part) text.append(part === "\u2581" ? element("span", {className: "begin"}, part) : part);
    }
    const button = element("button", {className: "token", type: "button", tabIndex: position === stop ? 0 : -1}, text,
                           element("span", {className: "value"}));
    button.token = index;
    button.dataset.position = position;
    button.setAttribute("aria-label", `${side} ${index + 1} of ${tokens.tokens.length}: ${token}`);
    button.addEventListener("pointerenter", () => look({[side]: index}));
    button.addEventListener("focus", () => look({[side]: index}));
    button.addEventListener("blur", () => button.isConnected && look(state.pinned));
    button.addEventListener("click", () => pin({[side]: index}));
    return element("li", {}, button);
  }));
  if (focused !== undefined) list.querySelector(`[data-position="${focused}"]`)?.focus({preventScroll: true});
}

function paintLists(map) {
  byId("sentences").classList.toggle("long", isLong(map));
  const rows = rowsInSight(map);
  for (const [side, list] of [["query", byId("queries")], ["key", byId("keys")]]) {
    buildTokens(map, side, list, rows);
    paintTokens(map, side, list);
  }
  paintLines(map, rows);
}

// Updates the tokens of a side. If the token in focus is on the other side, each token shows its weight.
function paintTokens(map, side, list) {
  const {query, key} = state.focus, fromQuery = query !== undefined;
  const isAcross = state.focus !== NONE && (side === "key") === fromQuery;
  const most = isAcross ? largest(map, state.head) : 1;
  list.querySelectorAll("button").forEach(button => {
    const index = button.token, value = button.querySelector(".value");
    button.classList.toggle("here", index === (side === "query" ? query : key));
    button.setAttribute("aria-pressed", index === state.pinned[side]);
    value.textContent = "";
    button.style.background = button.style.color = "";
    if (!isAcross) return;
    const [q, k] = fromQuery ? [query, index] : [index, key];
    if (masked(map, q, k)) return value.textContent = "hidden";
    const thousandths = weight(map, state.head, q, k);
    value.textContent = digits(thousandths);
    button.style.background = `rgb(${rampColor(thousandths, most)})`;
    button.style.color = Math.abs(thousandths) > 0.45 * most ? (theme() === "dark" ? "#10141b" : "#fff") : "";
  });
}

function paintLines(map, rows) {
  const queries = shownOf(querySide(map)), keys = shownOf(keySide(map)), row = rowHeight(map), canvas = byId("lines");
  canvas.style.width = "100%";
  const width = canvas.clientWidth, context = sized(canvas, width, rows.height);
  canvas.style.width = "100%";
  context.lineCap = "round";
  const heads = state.head === ALL ? [...Array(map.heads).keys()] : [state.head];
  const focused = state.focus !== NONE;
  const most = state.head === ALL ? largestOfAll(map) : largest(map, state.head);
  const count = keysOf(map).length;
  const one = (shown, index) => index === undefined ? [0, shown.length] : [shown.indexOf(index), shown.indexOf(index) + 1];
  const [firstKey, endKey] = one(keys, state.focus.query === undefined ? state.focus.key : undefined);
  let [firstQuery, endQuery] = one(queries, state.focus.query);
  if (!focused) [firstQuery, endQuery] = [rows.first, Math.min(rows.end, endQuery)];
  if (firstQuery < 0 || firstKey < 0) return;  // a hidden token is in focus
  const less = style("--less");
  for (const head of heads) {
    const values = valuesOf(map, head), color = headColor(head, map.heads);
    // If all heads are shown, lines are side by side, so that equal lines do not overlap.
    const shift = (heads.length > 1 ? (head / (heads.length - 1) - 0.5) * Math.min(row * 0.5, 2 * heads.length) : 0) - rows.top;
    for (let query = firstQuery; query < endQuery; ++query) {
      for (let key = firstKey; key < endKey; ++key) {
        const signed = values[queries[query] * count + keys[key]], value = Math.min(Math.abs(signed) / most, 1);
        if (value < 0.02) continue;
        const from = (query + 0.5) * row + shift, to = (key + 0.5) * row + shift;
        context.strokeStyle = signed < 0 ? less : color;
        context.globalAlpha = (focused ? 0.15 + 0.85 * value : value ** 1.3 * (heads.length > 1 ? 0.7 : 1));
        context.lineWidth = focused ? 1 + 3 * value : 1.5;
        context.beginPath();
        context.moveTo(2, from);
        context.bezierCurveTo(width * 0.45, from, width * 0.55, to, width - 2, to);
        context.stroke();
      }
    }
  }
}

// Moves the keyboard focus to a token. A long list scrolls to the token first.
function focusToken(list, position) {
  const map = currentMap(), frame = byId("sentences"), row = rowHeight(map);
  list.querySelectorAll("[tabindex='0']").forEach(button => button.tabIndex = -1);
  list.stop = position;
  if (isLong(map)) {
    frame.scrollTop = clamp(frame.scrollTop, (position + 1) * row - frame.clientHeight, position * row);
    paintLists(map);
  }
  const button = list.querySelector(`[data-position="${position}"]`);
  button.tabIndex = 0;
  button.focus();
}

function walkTokens(event) {
  const list = event.currentTarget, at = Number(event.target.dataset.position);
  const map = currentMap(), last = shownOf(list.id === "queries" ? querySide(map) : keySide(map)).length - 1;
  const to = {ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 20, PageUp: at - 20, Home: 0, End: last}[event.key];
  if (to !== undefined && at >= 0) {
    focusToken(list, clamp(to, 0, last));
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    byId(event.key === "ArrowLeft" ? "queries" : "keys").querySelector("[tabindex='0']").focus();
  } else {
    return;
  }
  event.preventDefault();
}

function listenToLists() {
  for (const id of ["queries", "keys"]) {
    byId(id).addEventListener("keydown", walkTokens);
    byId(id).addEventListener("pointerleave", () => look(state.pinned));
  }
  byId("sentences").addEventListener("scroll", () => isLong(currentMap()) && paintLists(currentMap()));
}
