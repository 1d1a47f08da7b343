"use strict";
// Unpacks the figures and the library that draws them, and draws: on the screen in the look that
// is chosen, on paper light and as wide as the paper. Nothing is loaded.
(() => {
  const paper = 680; // pixels between the margins of A4
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll(".plot")];
  const button = document.getElementById("look");
  let figures = [];
  let printing = false;

  function isDark() {
    if (printing) return false;
    return (root.dataset.look || (system.matches ? "dark" : "light")) === "dark";
  }

  // The figure in the look of the page: the light one, with what is another colour in the dark.
  function shaped(place) {
    const { figure, dark } = figures[place];
    const made = structuredClone(figure);
    if (isDark()) {
      for (const [path, value] of dark) {
        const last = path.length - 1;
        let at = made;
        for (let i = 0; i < last; i++) at = at[path[i]];
        at[path[last]] = structuredClone(value);
      }
    }
    return made;
  }

  function draw(plot) {
    const place = Number(plot.dataset.figure);
    const made = shaped(place);
    const width = printing ? paper : plot.clientWidth;
    if (!width) return undefined;
    const wanted = made.layout.width;
    made.layout.width = wanted ? Math.min(wanted, width) : width;
    made.layout.autosize = false;
    // Two of them fit a page.
    if (printing) made.layout.height = Math.round(0.78 * made.layout.height);
    const config = {
      displaylogo: false,
      displayModeBar: printing ? false : "hover",
      modeBarButtons: [["toImage"]],
      toImageButtonOptions: { format: "png", scale: 3, filename: "figure" },
    };
    plot.dataset.drawn = "1";
    return Plotly.react(plot, made.data, made.layout, config);
  }

  const shown = (plot) => plot.closest("figure").hidden === false;

  // One after the other, so that the page can be read meanwhile.
  async function drawAll() {
    for (const plot of plots.filter(shown)) {
      draw(plot);
      await new Promise((done) => setTimeout(done));
    }
  }

  function drawAtOnce() {
    plots.filter(shown).forEach(draw);
  }

  function named() {
    button.textContent = isDark() ? "Light" : "Dark";
  }

  button.addEventListener("click", () => {
    root.dataset.look = isDark() ? "light" : "dark";
    named();
    drawAtOnce();
  });

  for (const several of document.querySelectorAll(".several")) {
    const buttons = [...several.querySelectorAll(".choice button")];
    const drawn = [...several.querySelectorAll("figure.drawn")];
    buttons.forEach((pressed, place) => pressed.addEventListener("click", () => {
      buttons.forEach((one, at) => one.setAttribute("aria-pressed", String(at === place)));
      drawn.forEach((one, at) => { one.hidden = at !== place; });
      draw(drawn[place].querySelector(".plot"));
    }));
  }

  let closed = [];
  function toPaper() {
    if (printing) return;
    printing = true;
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((one) => { one.open = true; });
    if (window.Plotly) drawAtOnce();
  }

  function fromPaper() {
    printing = false;
    closed.forEach((one) => { one.open = false; });
    if (window.Plotly) drawAtOnce();
  }

  async function begin() {
    try {
      const [json, library] = await Promise.all([unpackText("figures"), unpackText("library")]);
      figures = JSON.parse(json);
      const script = document.createElement("script");
      script.textContent = library;
      document.head.append(script);
      if (!window.Plotly) throw new Error("the library did not start");
    } catch (error) {
      const problem = document.getElementById("problem");
      problem.textContent = "The pictures cannot be drawn in this browser, which has to be of 2023 "
        + "or later: the sentences, tables and data are all here.";
      problem.hidden = false;
      root.dataset.state = "failed";
      console.error(error);
      return;
    }
    button.hidden = false;
    named();
    system.addEventListener("change", () => { named(); drawAtOnce(); });
    addEventListener("beforeprint", toPaper);
    addEventListener("afterprint", fromPaper);
    let width = innerWidth;
    let waiting = 0;
    addEventListener("resize", () => {
      if (printing || innerWidth === width) return;
      width = innerWidth;
      clearTimeout(waiting);
      waiting = setTimeout(drawAtOnce, 150);
    });
    await drawAll();
    root.dataset.state = "drawn";
  }

  begin();
})();
