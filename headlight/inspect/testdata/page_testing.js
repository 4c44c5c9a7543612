// Appended to a page by page_test.cc, with the self-test of one of its records. The self-test drives the page as a user
// would. This file writes the results into the document, one line per check, for page_test.cc.
const lines = [];
const check = (name, holds, seen) => lines.push(`${holds ? "ok" : "NOT OK"} ${name}${holds ? "" : `: ${seen}`}`);
const equal = (name, seen, expected) => check(name, seen === expected, `saw ${seen}, expected ${expected}`);
const all = selector => [...document.querySelectorAll(selector)];
const readout = () => document.getElementById("readout").textContent.replace(/[\u2068\u2069]/g, "");
const choose = (name, index) => all(`input[name=${name}]`)[index].click();
const press = key => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const hover = element => element.dispatchEvent(new PointerEvent("pointerenter"));
const leave = id => document.getElementById(id).dispatchEvent(new PointerEvent("pointerleave"));
const value = (side, index) => all(`#${side} .value`)[index].textContent;
const mapCanvas = document.getElementById("map");
const colors = JSON.parse(document.getElementById("data").textContent).ramps;

function pointAt(kind, {x, y}) {
  const bounds = mapCanvas.getBoundingClientRect();
  mapCanvas.dispatchEvent(new PointerEvent(kind, {clientX: bounds.left + x, clientY: bounds.top + y}));
}

// Finds a point within a cell of the map by moving the pointer until the page names the cell. Returns the point and its
// color.
function findCell(text) {
  const bounds = mapCanvas.getBoundingClientRect();
  for (let y = bounds.height - 4; y > 0; y -= 7) {
    for (let x = bounds.width - 4; x > 0; x -= 7) {
      pointAt("pointermove", {x, y});
      if (!readout().includes(text)) continue;
      mapCanvas.dispatchEvent(new PointerEvent("pointerleave"));
      const inside = {x: x - 5, y: y - 5};  // away from the border, since the search starts at the lower right
      const [column, row] = [inside.x, inside.y].map(at => Math.round(at * devicePixelRatio));
      return {...inside, pixel: [...mapCanvas.getContext("2d").getImageData(column, row, 1, 1).data]};
    }
  }
  return {pixel: []};
}
const hex = pixel => pixel.slice(0, 3).map(part => part.toString(16).padStart(2, "0")).join("");

const shown = id => document.getElementById(id).offsetParent !== null;

// A self-test is a function, so that its names do not conflict with names in the page.
function selfTest(run) {
  try {
    run();
  } catch (error) {
    check("the test runs through", false, error.stack);
  }
  lines.push(`${lines.length} checks`);
  document.body.append(Object.assign(document.createElement("pre"), {id: "selftest", textContent: lines.join("\n")}));
}
