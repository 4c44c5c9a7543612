// Tests the records Before and After of page_test.cc. In After the weights of the two keys are swapped, except for the
// first query of head 1.
selfTest(() => {
  const slider = document.getElementById("moment"), isTraining = data.slider;
  check("nothing overflows to the side", document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollWidth);
  equal("models to choose, or moments", all("input[name=record]").length, isTraining ? 0 : 2);
  equal("the slider is of a training", shown("moment"), isTraining);
  const second = () => {
    if (!isTraining) return choose("record", 1);
    slider.value = 1;
    slider.dispatchEvent(new Event("input"));
  };
  choose("head", 1);
  hover(all("#queries button")[0]);
  equal("the first", value("keys", 0), "1.000");
  all("#queries button")[0].click();
  second();
  equal("what was chosen stays chosen", readout(), "Encoder self-attention, layer 1, head 1: “a” looks at “b” 0.750, “a” 0.250");
  if (isTraining) equal("the moment is named", document.getElementById("moment-name").textContent, "after");
  document.getElementById("difference").click();
  check("the difference is named", readout().startsWith("Encoder self-attention, layer 1, head 1, less before"), readout());
  equal("the difference: more", value("keys", 1), "0.750");
  equal("the difference: less", value("keys", 0), "-0.750");
  check("less has another colour", all("#keys button")[0].style.background !== all("#keys button")[1].style.background, "the same");
  check("less has its legend", shown("less-legend"), "hidden");
  document.getElementById("difference").click();
  equal("and back", value("keys", 1), "0.750");
});
